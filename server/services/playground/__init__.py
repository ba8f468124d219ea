"""Asking a site with settings that nobody has saved, several ways side by side."""
