"""The process that runs untrusted SQL, and its control."""
