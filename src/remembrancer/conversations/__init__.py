"""Chats and messages: the evidence."""
