"""What a fit learns from labelled runs: the heads of a monitor, and the general monitor."""
