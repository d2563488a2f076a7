"""The question templates of the benchmark, one file for each subject."""
