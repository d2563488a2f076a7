"""The embedded benchmark: a synthetic hospital, questions over it, and recorded runs."""
