"""Stores of crawls."""
