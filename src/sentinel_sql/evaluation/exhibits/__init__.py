"""The exhibits of one evaluation, one file each; `table` lists them in order."""
