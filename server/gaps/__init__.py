"""What a site cannot answer: unanswered questions, told apart by what they ask."""
