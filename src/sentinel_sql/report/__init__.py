"""The reports of an evaluation for people: tables, figures and the page."""
