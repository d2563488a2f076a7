"""Reading the logs of agents that we never ran."""
