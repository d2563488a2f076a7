"""SQLite files: read-only, bounded, with their own clock."""
