"""What strategies that derive something from the chunks have in common."""
