"""The agent's sentence about a result: what it states, and what of that the result doesn't hold."""
