"""Questions, where they come from, their templates, and the pools they are split into."""
