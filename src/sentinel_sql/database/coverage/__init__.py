"""What a database holds of a question's words."""
