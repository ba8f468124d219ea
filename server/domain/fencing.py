"""Escaping text of pages and visitors, so that in a prompt it stays between the tags around it."""


def fenced(text: str) -> str:
    """Escape text so that it cannot close the fence around it."""
    return text.replace("</", "<\u200b/").replace("<chunk", "<\u200bchunk").replace("<page", "<\u200bpage")


def attribute(text: str) -> str:
    """Escape text for use as an attribute value in a tag."""
    return " ".join(text.split()).replace('"', "'").replace("<", "(").replace(">", ")")[:200]
