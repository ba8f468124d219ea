"""Replaces words of a question that no page uses by the site's own words for the same thing."""

from dataclasses import replace

from server.answering.understanding.glossary import look_up, words
from server.answering.understanding.steps import Understanding
from server.indexes.tokens import tokens
from server.languages.loader import language as known
from server.retrieval.rarity import Rarity


class SynonymStep:
    """Search the site's word for a word that it never uses, by the glossary of the question's language. The
    meaning that is embedded stays that of the question as it was asked."""

    name = "synonyms"

    def __init__(self, rarity: Rarity, reads: frozenset[str]) -> None:
        """`reads` are the embedder's languages; empty for all."""
        self._rarity = rarity
        self._reads = reads

    def apply(self, so_far: Understanding) -> Understanding:
        """Return the state with the query in the site's words. Translated queries have them already. Where
        words are looked up at any position in a run of characters, too many would be replaced."""
        query = so_far.query
        writing = known(query.language).writing
        if query.translated or writing.endings or not writing.spaces:
            return so_far
        # A word of several concepts is ambiguous.
        found = {
            one: words(one.concepts[0], query.language)
            for one in look_up(query.text, query.language)
            if len(one.concepts) == 1
        }
        terms = {term: tokens(term, query.language) for some in found.values() for term in some}
        asked = {one: tokens(query.text[one.start : one.end], query.language) for one in found}
        if not found:
            return so_far
        # All words of the question, which later steps weigh too, so that they are looked up once.
        looked_up = (*terms.values(), *asked.values(), tokens(query.text, query.language))
        unused = self._rarity.unused([token for some in looked_up for token in some])
        text = query.text
        for one in sorted(found, key=lambda one: -one.start):
            if unused.issuperset(asked[one]):
                own = next((term for term in found[one] if unused.isdisjoint(terms[term])), "")
                text = text[: one.start] + (own or text[one.start : one.end]) + text[one.end :]
        if text == query.text:
            return so_far
        is_read = not self._reads or query.language in self._reads
        meaning = query.meaning or (query.text if is_read else "")
        return replace(so_far, query=replace(query, text=text, meaning=meaning))
