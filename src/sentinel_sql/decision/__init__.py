"""Payoff, thresholds, policy and the live guard."""
