"""A database that an agent may read and never change, with a clock of its own."""
