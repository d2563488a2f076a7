"""The classifiers over prefixes, one file for each kind, and the explanation of their scores."""
