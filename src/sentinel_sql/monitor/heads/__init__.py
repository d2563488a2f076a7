"""The classifiers over prefixes, a file a kind, and what moves their scores."""
