"""Sentinel: knows when a data agent should not be believed."""
