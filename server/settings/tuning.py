"""Which options of retrieval and answering are on: the defaults are those that measured best."""

from collections.abc import Mapping
from typing import ClassVar, Literal, Self

from pydantic import Field

from server.settings.base import Group, prefixed


class Tuning(Group):
    """Those of every site; `with_values` gives those of one site."""

    model_config = prefixed("tune_")
    heading: ClassVar = "Tuning of retrieval and answers"
    about: ClassVar = "What each option is worth is measured with `python -m server evaluate`."

    fusion: Literal["weighted", "minmax", "rrf", "reciprocal"] = "weighted"
    """How the scores of vector search and word search are combined: weighted (words by the best possible
    score), minmax (by best and worst score), rrf (reciprocal rank fusion, k = 60) or reciprocal (the same
    with k = 0)."""
    dense_weight: float = Field(default=0.35, ge=0, le=1)
    """Weight of vector search where the embedding model knows the language, from 0 (words only) to 1 (vectors
    only)."""
    unread_weight: float = Field(default=0.05, ge=0, le=1)
    """Weight of vector search where the embedding model does not know the language."""
    rerank: Literal["features", "model", "cross-encoder", "none"] = "features"
    """How the best results are reranked: features (without a model), model (by CHAT_MODEL), cross-encoder (by
    RERANK_URL) or none."""
    page_share: float = Field(default=0.05, ge=0, le=1)
    """Share of the scores of a page's other chunks that is added to each of its chunks."""
    diversity: float = Field(default=1.0, ge=0, le=1)
    """Balance of relevance and diversity (MMR). 1 ranks by relevance alone; lower values move near-duplicates
    down."""
    typo_tolerance: bool = True
    """1 corrects typing errors in searches. 0 searches for words exactly as typed."""
    history_share: float = Field(default=0.3, ge=0, le=1)
    """Share of the previous question's scores that is added for a follow-up question."""
    title: Literal["short", "always", "never"] = "short"
    """When the site's title is added to the question for vector search: short (to short questions), always or
    never."""
    neighbours: int = Field(default=0, ge=0, le=5)
    """Chunks before and after each result that the answer is also written from."""
    multi_query: bool = False
    """1 also searches for other wordings of the question."""
    sub_questions: bool = False
    """1 also searches for each part of a question with several parts."""
    step_back: bool = False
    """1 also searches for a more general form of the question."""
    hyde: bool = False
    """1 also searches for a made-up passage that could answer the question (HyDE)."""
    routing: bool = True
    """1 answers small talk, wishes for a person, complaints, emergencies, questions about the whole site and
    those that the card of facts answers without a search. 0 searches the pages for all of them."""
    clarify: bool = True
    """1 asks back when a question can be understood in two ways."""
    glossary: bool = True
    """1 translates a question into the site's language for the search. 0 searches in the language of the
    question."""
    synthesis: Literal["compact", "refine", "tree"] = "compact"
    """How a model reads more excerpts than fit into one prompt: compact, refine or tree."""
    grade_claims: bool = False
    """1 asks the model which claims of its answer the pages support. It costs one more call."""
    answer_cache: bool = True
    """1 repeats the cached answer to an earlier question. 0 writes each answer again."""

    def with_values(self, values: Mapping[str, object]) -> Self:
        """The same with `values` by field name in their place; names that are not fields are left out."""
        known = {name: value for name, value in values.items() if name in type(self).model_fields}
        return self.model_copy(update=known)
