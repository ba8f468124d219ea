"""DOCX files."""
