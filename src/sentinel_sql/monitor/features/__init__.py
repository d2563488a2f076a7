"""The ten trajectory features, and what they are read from."""
