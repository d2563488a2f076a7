"""Families of named features that the `linear` head reads beside the n-grams, a file a family."""
