"""Exhibits that take more than one evaluation: judges, agents, seeds, features, leakage."""
