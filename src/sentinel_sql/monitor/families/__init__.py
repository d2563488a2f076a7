"""Families of named features that the `linear` head reads, one file for each family."""
