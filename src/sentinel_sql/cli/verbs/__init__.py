"""The verbs of the `sentinel` command, a file each."""
