"""Gaps: questions that a site cannot answer, grouped by what they ask."""
