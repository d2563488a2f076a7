"""Output for the terminal: tables of 80 columns, and runs as gauges."""
