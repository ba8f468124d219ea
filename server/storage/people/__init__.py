"""Stores of operators, their logins, API keys and the audit log."""
