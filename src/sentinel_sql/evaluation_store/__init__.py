"""An evaluation on disk: its folder, document, tables, sources, and how often a pool was spent."""
