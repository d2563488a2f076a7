"""The ReAct agent over any OpenAI-compatible chat endpoint."""
