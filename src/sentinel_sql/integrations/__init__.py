"""Adapters of agent frameworks: a module for each, none of them imported by the package itself."""
