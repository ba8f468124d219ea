"""Which options of retrieval and answering are on: the defaults are those that measured best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Tuning:
    """One per site. For each field there is a setting, TUNE_ and its name, whose description in
    `server.settings.tuning` says what it does."""

    fusion: str = "weighted"
    dense_weight: float = 0.35
    unread_weight: float = 0.05
    rerank: str = "features"
    page_share: float = 0.05
    diversity: float = 1.0
    typo_tolerance: bool = True
    history_share: float = 0.3
    title: str = "short"
    neighbours: int = 0
    multi_query: bool = False
    sub_questions: bool = False
    step_back: bool = False
    hyde: bool = False
    routing: bool = True
    clarify: bool = True
    glossary: bool = True
    synthesis: str = "compact"
    grade_claims: bool = False
    answer_cache: bool = True

    def with_values(self, values: Mapping[str, object]) -> Tuning:
        """The same with `values` by field name in their place; names that are not fields are left out."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return Tuning(**{**own, **{name: value for name, value in values.items() if name in own}})
