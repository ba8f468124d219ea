"""Language models, embedding models and rerankers: where they are, how long they may take, what they cost."""

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from server.settings.base import SECRET, Changeable, Group, WebAddress


class ModelSettings(Group):
    """Providers, time limits and budgets of all models."""

    heading: ClassVar = "Models"
    subheadings: ClassVar = {
        "openai_api_key": "Chat model",
        "embedding_model": "Embedding model",
        "rerank_url": "Reranking",
        "timeout_s": "Model calls",
        "daily_tokens": "Budgets",
    }

    openai_api_key: Annotated[str, SECRET, Changeable("chat")] = ""
    """API key of the model provider. If it is empty, a chat model is only called if OPENAI_BASE_URL and
    CHAT_MODEL are set."""
    openai_base_url: Annotated[WebAddress, Changeable("chat")] = ""
    """Address of an OpenAI-compatible API, such as http://127.0.0.1:11434/v1 for Ollama. Empty: OpenAI."""
    chat_model: Annotated[str, Changeable("chat")] = ""
    """Name of the chat model. Empty: gpt-4o-mini if there is an API key, otherwise no chat model is
    called and answers quote the pages."""
    embedding_model: Annotated[str, Changeable("embedding")] = ""
    """Name of the provider's embedding model, or a folder with an ONNX model: a path that begins with /, ./,
    ../ or ~/. Empty: all-MiniLM-L6-v2, which is built in and reads English."""
    embedding_languages: Annotated[str, Changeable("embedding")] = ""
    """Languages that EMBEDDING_MODEL understands, such as en,de,zh. Empty: all."""
    embedding_query_prefix: Annotated[str, Changeable("embedding")] = ""
    """Text that a model folder wants before each query, such as query: for e5."""
    embedding_passage_prefix: Annotated[str, Changeable("embedding")] = ""
    """Text that a model folder wants before each passage, such as passage: for e5."""
    embedded_threads: int = Field(default=2, ge=1, le=64)
    """Threads that the built-in embedding model, or that of a folder, uses while it indexes."""
    rerank_url: Annotated[WebAddress, Changeable("rerank")] = ""
    """Address of a rerank API (Jina, Cohere, vLLM, TEI). It is called if TUNE_RERANK is cross-encoder."""
    rerank_model: Annotated[str, Changeable("rerank")] = ""
    """Name of the model at the rerank API. Leave it empty if the API has only one model."""
    rerank_api_key: Annotated[str, SECRET, Changeable("rerank")] = ""
    """API key of the rerank API. Leave it empty if the API needs no key."""
    rerank_timeout_s: Annotated[float, Changeable("rerank")] = Field(default=3.0, gt=0)
    """Time limit for one reranking, in seconds. After that the results are not reranked."""
    timeout_s: Annotated[float, Changeable("calls")] = Field(default=30.0, gt=0, alias="model_timeout_s")
    """Time limit for one reply of a model, in seconds."""
    first_token_s: Annotated[float, Changeable("calls")] = Field(
        default=10.0, gt=0, alias="model_first_token_s"
    )
    """Time limit for the first words of an answer, in seconds. After that the visitor gets an answer that
    quotes the pages."""
    retries: Annotated[int, Changeable("calls")] = Field(default=2, ge=0, le=10, alias="model_retries")
    """How often a model call is retried after a temporary failure."""
    concurrency: int = Field(default=256, ge=1, alias="model_concurrency")
    """Model calls that one process makes at the same time."""
    context_tokens: Annotated[int, Changeable("calls")] = Field(default=3000, ge=300, le=200_000)
    """Most tokens of excerpts in one prompt. TUNE_SYNTHESIS says what happens with more."""
    cache_hours: Annotated[float, Changeable("calls")] = Field(default=24.0, ge=0, alias="model_cache_hours")
    """How long replies of models are cached, in hours. 0: no cache."""
    daily_tokens: Annotated[int, Changeable("budgets")] = Field(
        default=10_000_000, ge=0, alias="model_daily_tokens"
    )
    """Tokens a day for all sites together, indexing included. After that answers quote the pages. 0: no
    limit."""
    visitor_daily_tokens: Annotated[int, Changeable("budgets")] = Field(default=200_000, ge=0)
    """Tokens a day for each visitor. After that the visitor's answers quote the pages. 0: no limit."""
    site_daily_tokens: Annotated[int, Changeable("budgets")] = Field(default=0, ge=0)
    """Tokens a day for each site. After that its answers quote the pages. 0: no limit."""
    site_daily_cost: Annotated[float, Changeable("budgets")] = Field(default=0.0, ge=0)
    """Money a day for each site, in the currency of MODEL_PRICES. After that its answers quote the pages. 0:
    no limit."""
    prices: Annotated[str, Changeable("budgets", long=True)] = Field(
        default="", pattern=r"^$|^[^=,]+=[\d.]+/[\d.]+(,[^=,]+=[\d.]+/[\d.]+)*$", alias="model_prices"
    )
    """Price of a million input and output tokens of each model, such as gpt-4o-mini=0.15/0.60,other=1/4."""

    @property
    def embedding_folder(self) -> Path | None:
        """The folder that EMBEDDING_MODEL names; None for a provider's model and for the built-in one."""
        named = self.embedding_model
        is_path = named.startswith(("/", "./", "../", "~/"))
        return Path(named).expanduser().resolve() if is_path else None

    @property
    def uses_embedding_service(self) -> bool:
        return bool(self.embedding_model) and self.embedding_folder is None

    @property
    def uses_chat_model(self) -> bool:
        return bool(self.openai_api_key or (self.openai_base_url and self.chat_model))

    @property
    def chat_model_name(self) -> str:
        return self.chat_model or "gpt-4o-mini"
