"""Backups: writing, checking and restoring them."""
