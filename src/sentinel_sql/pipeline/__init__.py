"""Collect, label, fit, evaluate: the verbs, as functions."""
