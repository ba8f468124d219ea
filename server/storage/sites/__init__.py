"""Stores of sites and their incidents."""
