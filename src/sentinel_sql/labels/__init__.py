"""Labels: was the question answerable, and was the answer correct."""
