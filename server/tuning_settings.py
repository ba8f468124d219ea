"""Options of retrieval and answering as settings: TUNE_ and the name in `server.domain.tuning.Tuning`."""

from __future__ import annotations

from pydantic import BaseModel, Field

from server.domain.tuning import Tuning


class TuningSettings(BaseModel):
    """A part of `server.settings.Settings`: the defaults for every site."""

    # --- Retrieval and answers, measured by python -m server evaluate
    tune_fusion: str = Field(
        "weighted",
        pattern="^(weighted|minmax|rrf)$",
        description="How vectors and words are joined: weighted, minmax, rrf or reciprocal.",
    )
    tune_dense_weight: float = Field(
        0.35, ge=0, le=1, description="Share of the vectors where the embedder reads the languages."
    )
    tune_unread_weight: float = Field(0.05, ge=0, le=1, description="Share of the vectors where it does not.")
    tune_rerank: str = Field(
        "features",
        pattern="^(features|model|cross-encoder|none)$",
        description="Second look: features, model (CHAT_MODEL), cross-encoder (RERANK_URL) or none.",
    )
    tune_page_share: float = Field(
        0.05, ge=0, le=1, description="Share of a page's other chunks' scores that each chunk gets."
    )
    tune_diversity: float = Field(
        1.0, ge=0, le=1, description="Below 1, near-duplicates are ranked lower (MMR); 1: by relevance alone."
    )
    tune_typo_tolerance: bool = Field(True, description="0 searches words as they are written only.")
    tune_history_share: float = Field(
        0.3, ge=0, le=1, description="Share of the previous question's scores that a follow-up gets."
    )
    tune_title: str = Field(
        "short", pattern="^(short|always|never)$", description="Questions that get the site's title."
    )
    tune_neighbours: int = Field(0, ge=0, le=5, description="Chunks around each found one, read with it.")
    tune_multi_query: bool = Field(False, description="1 also searches other wordings of the question.")
    tune_sub_questions: bool = Field(False, description="1 also searches the parts of a question.")
    tune_step_back: bool = Field(False, description="1 also searches a more general form of the question.")
    tune_hyde: bool = Field(False, description="1 also searches a passage such as might answer.")
    tune_routing: bool = Field(True, description="0 treats a greeting like any question.")
    tune_clarify: bool = Field(True, description="0 never asks back.")
    tune_glossary: bool = Field(
        True, description="0 searches a question in another language than the site's as it is."
    )
    tune_synthesis: str = Field(
        "compact", pattern="^(compact|refine|tree)$", description="How a model reads many excerpts."
    )
    tune_grade_claims: bool = Field(
        False, description="1 asks the model once more which of its claims hold; one further call."
    )
    tune_answer_cache: bool = Field(True, description="0 answers the same question anew each time.")

    @property
    def tuning(self) -> Tuning:
        """These settings as the parts take them."""
        values = {name.removeprefix("tune_"): value for name, value in self.model_dump().items()}
        return Tuning().with_values(values)
