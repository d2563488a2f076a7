"""From a growing trajectory to a confidence: two heads, ten features and calibration maps."""
