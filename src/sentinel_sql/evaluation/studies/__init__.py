"""Exhibits that need more than one evaluation: judges, agents, seeds, features, leakage."""
