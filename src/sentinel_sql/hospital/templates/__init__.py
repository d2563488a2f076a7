"""The question templates of the benchmark, a file a subject."""
