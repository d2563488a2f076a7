"""Serves a small language model to many chats at once, on a machine without a GPU."""
