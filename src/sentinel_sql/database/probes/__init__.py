"""Small queries that check what an agent's query rests on."""
