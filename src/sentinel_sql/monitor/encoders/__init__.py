"""Networks that read text: their source, training, export and running."""
