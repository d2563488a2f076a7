"""Two heads, ten features and the calibration maps: confidence from a growing trajectory."""
