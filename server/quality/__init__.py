"""Test sets, their runs, and quality gates."""
