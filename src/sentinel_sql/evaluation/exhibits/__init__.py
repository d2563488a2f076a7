"""The exhibits of one evaluation, a file each; `table` lists them in order."""
