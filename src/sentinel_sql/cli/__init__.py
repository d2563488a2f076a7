"""The `sentinel` command."""
