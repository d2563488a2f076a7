"""Trajectories: the narrow waist between agents and monitors."""
