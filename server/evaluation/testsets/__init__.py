"""Test sets made from a site's own pages."""
