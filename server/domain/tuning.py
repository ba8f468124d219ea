"""Which options of retrieval and answering are on: the defaults are those that measured best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Tuning:
    """One per site. For each field there is a setting: TUNE_ and its name."""

    fusion: str = "weighted"
    """How vectors and words become one ranking: "weighted" (words by what the question could score at most),
    "minmax" (both sides by their best and worst), "rrf" (reciprocal rank) or "reciprocal" (the same with no
    constant in addition to the rank: the first ones decide)."""
    dense_weight: float = 0.35
    """Share of the vectors where the embedder reads both the query's and the chunk's language."""
    unread_weight: float = 0.05
    """Share of the vectors otherwise."""
    rerank: str = "features"
    """"features" needs no model; "model" asks the chat model and "cross-encoder" the rerank API for a second
    look at what the features put first; "none" keeps the fused order."""
    page_share: float = 0.05
    """Share of the scores of a page's other chunks that each of its chunks gets."""
    diversity: float = 1.0
    """MMR's balance: 1 ranks by relevance alone, lower puts near-duplicates further down."""
    typo_tolerance: bool = True
    """Whether words that the site never uses are also searched as the similar words that it uses."""
    history_share: float = 0.3
    """Share of the previous turn's scores that is added; half of it for each older turn."""
    title: str = "short"
    """When the site's title is added to what is embedded: "short" questions, "always" or "never"."""
    neighbours: int = 0
    """Chunks before and after each kept one that the writer reads too."""
    multi_query: bool = False
    """Whether other wordings of the question are searched in addition to it."""
    sub_questions: bool = False
    """Whether a question of several parts is also searched part by part."""
    step_back: bool = False
    """Whether a more general form of the question is searched in addition to it."""
    hyde: bool = False
    """Whether a passage as the answer might stand on a page is searched in addition to the question."""
    routing: bool = True
    """Whether greetings and small talk are answered at once, and kinds of questions told apart."""
    clarify: bool = True
    """Whether the visitor is asked back when two readings of the question score alike."""
    glossary: bool = True
    """Whether a question in a language that the site does not speak is searched in the site's language."""
    synthesis: str = "compact"
    """How a model reads more excerpts than fit: "compact", "refine" or "tree"."""
    grade_claims: bool = False
    """Whether the chat model is asked once more which claims of its answer the pages do not support."""
    answer_cache: bool = True
    """Whether the answer to a question asked before is given again while the index is the same."""

    def with_values(self, values: Mapping[str, object]) -> Tuning:
        """The same with `values` by field name in their place; names that are not fields are left out."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return Tuning(**{**own, **{name: value for name, value in values.items() if name in own}})
