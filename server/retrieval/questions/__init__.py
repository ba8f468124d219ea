"""Questions that chunks answer, searched beside the chunks."""

from server.retrieval.questions.strategy import QuestionsOptions, QuestionsStrategy

__all__ = ["QuestionsOptions", "QuestionsStrategy"]
