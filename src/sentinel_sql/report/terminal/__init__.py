"""What the terminal shows: tables of 80 columns, and runs as gauges."""
