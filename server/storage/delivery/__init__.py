"""Stores of messages to people, events and webhooks, and their deliveries."""
