"""The ten trajectory features, and the parsers that read SQL, literals and references for them."""
