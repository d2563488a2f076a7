"""What people read of an evaluation: tables, figures and the page."""
