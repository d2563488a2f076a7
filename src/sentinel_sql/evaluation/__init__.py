"""Replays of systems over recorded runs, and the exhibits made from them."""
