"""How pages are cut into chunks and searched, and how conversations and answers are remembered."""

from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from server.settings.base import Changeable, Group


class RetrievalSettings(Group):
    """Indexing, search and answers. Sites override the strategy and the flow."""

    heading: ClassVar = "Indexing and retrieval"

    index_publish_s: float = Field(default=30.0, ge=0)
    """How often changed pages go live while a site is crawled again, in seconds. 0: once, at the end of the
    crawl."""
    chunk_chars: int = Field(default=1000, ge=200, le=8000)
    """Longest chunk, in characters. Tables of up to twice this length stay whole."""
    chunk_overlap: int = Field(default=100, ge=0, le=2000)
    """Characters that neighbouring chunks of one section share, at most half of CHUNK_CHARS."""
    exact_search_chunks: int = Field(default=20_000, ge=0, le=1_000_000)
    """Sites with at most this many chunks are searched exactly, in a copy of their vectors in DATA_DIR;
    larger ones by Chroma's approximate index. 0: always by Chroma."""
    strategy: str = "hybrid"
    """Retrieval strategy of new sites, such as dense, lexical or hybrid. `python -m server strategies` lists
    all of them."""
    flow: str = "direct"
    """Flow of new sites: direct, self-rag or corrective."""
    self_rag_max_count: Annotated[int, Changeable("answers")] = Field(default=3, ge=1, le=10)
    """Most searches for one question in the flows self-rag and corrective."""
    self_rag_max_retries: Annotated[int, Changeable("answers")] = Field(default=2, ge=1, le=10)
    """Most drafts of one answer in the flow self-rag."""
    curated_threshold: Annotated[float, Changeable("answers")] = Field(default=0.77, ge=0.5, le=1)
    """Similarity to the question of a curated answer that is needed to give that answer. 1: only the same
    question."""
    answer_cache_hours: Annotated[float, Changeable("answers")] = Field(default=24.0, gt=0)
    """How long an answer is cached, in hours. A change of the index clears the cache earlier."""
    retrieve_limit: Annotated[int, Changeable("answers")] = Field(default=10, ge=1, le=100)
    """Most chunks that an answer is written from."""
    relevance_floor: Annotated[float, Changeable("answers")] = Field(default=-1.0, ge=-1, le=1)
    """Lowest answerability, from 0 to 1, at which Docent answers a question, unless the site has its own.
    -1: the built-in default."""
    history_turns: int = Field(default=6, ge=0, le=50)
    """Earlier questions and answers that are used to understand a question."""
    history_minutes: float = Field(default=60.0, gt=0)
    """How long a conversation is remembered after its last question, in minutes."""

    @model_validator(mode="after")
    def _overlap_fits(self) -> Self:
        if self.chunk_overlap * 2 > self.chunk_chars:
            raise ValueError("CHUNK_OVERLAP must be at most half of CHUNK_CHARS")
        return self
