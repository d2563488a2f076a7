"""Other ways to doubt an answer, set beside the monitor on the same answers."""
