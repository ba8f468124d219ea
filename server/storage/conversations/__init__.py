"""Stores of conversations, and of curated answers."""
