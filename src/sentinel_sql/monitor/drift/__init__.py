"""Drift: whether live runs still look like those that a monitor was calibrated on."""
