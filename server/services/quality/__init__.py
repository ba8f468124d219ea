"""Measuring a site: test sets, their runs, and the gate before a new index."""
