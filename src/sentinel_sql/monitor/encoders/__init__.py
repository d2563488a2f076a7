"""Networks that read text: where they come from, how they are trained, exported and run."""
