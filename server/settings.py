"""Every setting, its default and its meaning: the only reader of the environment and of `.env`.

`env.example` is `python -m server settings` written to a file; a test keeps the two equal.
"""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path
from typing import Self

from dotenv import dotenv_values
from pydantic import ConfigDict, Field, ValidationError, field_validator, model_validator

from server.contact_settings import ContactSettings, RateLimit
from server.crawl_settings import CrawlSettings
from server.gap_settings import GapSettings
from server.playground_settings import PlaygroundSettings
from server.privacy_settings import PrivacySettings
from server.quality_settings import QualitySettings
from server.source_settings import SourceSettings
from server.tuning_settings import TuningSettings


class SettingsError(Exception):
    """One line that names the setting, what is wrong with it and what to write instead."""


class Settings(
    TuningSettings, CrawlSettings, PrivacySettings, ContactSettings, SourceSettings, QualitySettings,
    PlaygroundSettings, GapSettings,
):  # fmt: skip
    """Typed and immutable. Field order and groups are those of `env.example`, inherited ones last."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # --- Serving
    host: str = Field("127.0.0.1", description="Address to listen on; 0.0.0.0 for every interface.")
    port: int = Field(8000, ge=1, le=65535, description="Port of the web server.")
    public_url: str = Field(
        "", description="Address under which visitors reach this server; empty: http://HOST:PORT."
    )
    data_dir: Path = Field(Path("data"), description="Folder that holds all state.")
    site: str = Field(
        "", description="Site to crawl at the first start; empty: Docent's own documentation at /docs/."
    )
    web_workers: int = Field(2, ge=1, le=64, description="Web processes.")
    web_threads: int = Field(
        400, ge=1, le=4000, description="Threads of each web process: how many answers it can stream at once."
    )
    crawls_at_once: int = Field(2, ge=1, le=16, description="Sites that one job worker crawls side by side.")
    crawls_kept: int = Field(
        20, ge=2, le=1000, description="Crawls of a site that are kept with all of their addresses."
    )
    trusted_proxies: int = Field(
        0, ge=0, le=5, description="Reverse proxies in front whose X-Forwarded-For header is believed."
    )
    secret_key: str = Field(
        "",
        description="Signs tokens and sessions; empty: made once and kept in DATA_DIR. Set it for replicas.",
    )
    log_level: str = Field(
        "info", pattern="^(debug|info|warning|error)$", description="debug, info, warning or error."
    )

    # --- Services that one machine does without
    database_url: str = Field(
        "", description="postgresql://user:password@host/name; empty: SQLite in DATA_DIR."
    )
    redis_url: str = Field(
        "", description="redis://host:6379/0 for history, limits and jobs; empty: files in DATA_DIR."
    )
    chroma_url: str = Field("", description="http://host:port of a Chroma server; empty: one is started.")

    # --- Models
    openai_api_key: str = Field("", description="Key of the model provider; empty: no model is called.")
    openai_base_url: str = Field(
        "", description="Address of any OpenAI-compatible API, such as http://127.0.0.1:11434/v1 for Ollama."
    )
    chat_model: str = Field(
        "",
        description="Name of the chat model; empty: gpt-4o-mini with a key, else answers are quoted.",
    )
    embedding_model: str = Field(
        "",
        description="Name of the provider's embedding model; empty: all-MiniLM-L6-v2, embedded (English).",
    )
    embedding_languages: str = Field(
        "",
        description="Languages that EMBEDDING_MODEL reads, such as en,de,zh; empty: all.",
    )
    rerank_url: str = Field(
        "",
        description="Address of a rerank API (Jina, Cohere, vLLM, TEI); TUNE_RERANK=cross-encoder uses it.",
    )
    rerank_model: str = Field("", description="Name of the rerank API's model; some need none.")
    rerank_api_key: str = Field("", description="Key of the rerank API; empty: it needs none.")
    rerank_timeout_s: float = Field(
        3.0, gt=0, description="Seconds that it may take; then it is done without."
    )
    model_timeout_s: float = Field(30.0, gt=0, description="Seconds that a model may take for one reply.")
    model_first_token_s: float = Field(
        10.0, gt=0, description="Seconds until the first words; later the visitor gets the quoted answer."
    )
    model_retries: int = Field(2, ge=0, le=10, description="Further tries after a failure that may pass.")
    model_concurrency: int = Field(256, ge=1, description="Calls at once of each process.")
    context_tokens: int = Field(
        3000,
        ge=300,
        le=200_000,
        description="Tokens of excerpts in one prompt; what is over needs more calls.",
    )
    model_daily_tokens: int = Field(
        0, ge=0, description="Tokens a day over all sites; then answers are quoted. 0: no limit."
    )
    model_prices: str = Field(
        "",
        pattern=r"^$|^[^=,]+=[\d.]+/[\d.]+(,[^=,]+=[\d.]+/[\d.]+)*$",
        description="Money per million tokens sent/received, such as gpt-4o-mini=0.15/0.60,other=1/4.",
    )
    site_daily_tokens: int = Field(
        0, ge=0, description="Tokens a day for each site; then its answers are quoted. 0: no limit."
    )
    site_daily_cost: float = Field(
        0.0, ge=0, description="Money a day for each site, by MODEL_PRICES; then it quotes. 0: no limit."
    )
    model_cache_hours: float = Field(24.0, ge=0, description="Hours that equal model calls are remembered.")
    embedded_threads: int = Field(2, ge=1, le=64, description="Threads of the embedded model when indexing.")

    # --- Indexing and retrieval
    index_publish_s: float = Field(
        30.0,
        ge=0,
        description="Seconds until changed pages go live while a site is crawled again; 0: at its end.",
    )
    chunk_chars: int = Field(1000, ge=200, le=8000, description="Longest chunk, in characters.")
    chunk_overlap: int = Field(
        100, ge=0, le=2000, description="Characters that two chunks of one section share."
    )
    strategy: str = Field("hybrid", description="Retrieval strategy of new sites: dense, lexical or hybrid.")
    flow: str = Field("direct", description="Flow of new sites: direct, self-rag or corrective.")
    self_rag_max_count: int = Field(
        3, ge=1, le=10, description="Searches for one question, by the flows self-rag and corrective."
    )
    self_rag_max_retries: int = Field(
        2, ge=1, le=10, description="Drafts for one question, by the flow self-rag."
    )
    curated_threshold: float = Field(
        0.77, ge=0.5, le=1, description="How alike a question must be to one with a curated answer; 1: equal."
    )
    answer_cache_hours: float = Field(
        24.0, gt=0, description="Hours that an answer is given again while the index stays the same."
    )
    retrieve_limit: int = Field(10, ge=1, le=100, description="Chunks that retrieval hands to the writer.")
    relevance_floor: float = Field(
        -1.0, ge=-1, le=1, description="Lowest answerability in [0, 1]; -1: the calibrated default."
    )
    history_turns: int = Field(6, ge=0, le=50, description="Earlier turns that a question is read with.")
    history_minutes: float = Field(60.0, gt=0, description="Minutes that a conversation is remembered.")

    # --- Visitors
    message_chars: int = Field(2000, ge=10, description="Longest question, in characters.")
    body_bytes: int = Field(65_536, ge=1024, description="Largest request body.")
    selection_chars: int = Field(1000, ge=50, description="Characters of what is marked on a page.")
    visitor_token_hours: float = Field(24.0, gt=0, description="Hours that a visitor's token is valid.")
    visitor_limit: RateLimit = Field("20/minute", description="Questions of one visitor.")
    address_limit: RateLimit = Field("120/minute", description="Questions from one network address.")
    token_limit: RateLimit = Field("60/minute", description="New visitor tokens for one network address.")

    # --- Operators
    login_limit: RateLimit = Field("10/minute", description="Login attempts from one network address.")
    session_hours: float = Field(12.0, gt=0, description="Hours that an operator stays logged in.")

    @field_validator("public_url", "openai_base_url", "rerank_url", "chroma_url", "site")
    @classmethod
    def _is_address(cls, value: str) -> str:
        if value and not re.match(r"^https?://[^/\s]+", value):
            raise ValueError("is not an address that starts with http:// or https://")
        return value.rstrip("/") if not value.endswith("//") else value

    @field_validator("database_url")
    @classmethod
    def _is_database(cls, value: str) -> str:
        if value and not re.match(r"^(sqlite:///|postgresql(\+psycopg)?://)", value):
            raise ValueError("does not start with postgresql:// or sqlite:///")
        return value

    @field_validator("redis_url")
    @classmethod
    def _is_redis(cls, value: str) -> str:
        if value and not re.match(r"^(rediss?|unix)://", value):
            raise ValueError("does not start with redis:// or rediss://")
        return value

    @model_validator(mode="after")
    def _has_reranker(self) -> Self:
        if self.tune_rerank == "cross-encoder" and not self.rerank_url:
            raise ValueError("RERANK_URL must be set for TUNE_RERANK=cross-encoder")
        return self

    @model_validator(mode="after")
    def _overlap_fits(self) -> Self:
        if self.chunk_overlap * 2 > self.chunk_chars:
            raise ValueError("CHUNK_OVERLAP must be at most half of CHUNK_CHARS")
        return self

    @property
    def base_url(self) -> str:
        """Address under which visitors reach this server, without a slash at the end."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        return self.public_url or f"http://{host}:{self.port}"

    @property
    def uses_chat_model(self) -> bool:
        return bool(self.openai_api_key or (self.openai_base_url and self.chat_model))

    @property
    def chat_model_name(self) -> str:
        return self.chat_model or "gpt-4o-mini"


def load_settings(overrides: dict[str, str] | None = None, env_file: Path = Path(".env")) -> Settings:
    """Settings from, in order of precedence: `overrides`, the environment, `env_file`, the defaults.

    Raises SettingsError for an unknown name in `env_file` or `overrides`, and for a value out of range.
    """
    values: dict[str, str] = {}
    for name, value in _read_env_file(env_file).items():
        values[_known(name, str(env_file))] = value
    values |= {name: os.environ[name.upper()] for name in Settings.model_fields if name.upper() in os.environ}
    for name, value in (overrides or {}).items():
        values[_known(name, "the command line")] = value
    # An empty value means the default, as `NAME=` in a file or a compose template does.
    values = {name: value.strip() for name, value in values.items() if value.strip()}
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError(_one_line(error)) from None


def environment(settings: Settings) -> dict[str, str]:
    """The process environment with these settings in it, for child processes."""
    # Only what was given: a child tells it from the defaults, and reads the same .env.
    given = settings.model_dump(exclude_unset=True)
    ours = {name.upper(): as_text(value) for name, value in given.items()}
    return {**os.environ, **ours}


def as_text(value: object) -> str:
    """A value as it stands in an environment."""
    return {True: "1", False: "0"}[value] if isinstance(value, bool) else str(value)


def given_where(name: str, env_file: Path = Path(".env")) -> str:
    """Where the value of a setting comes from: the environment, `env_file`, or empty for the default."""
    if name.upper() in os.environ:
        return "the environment" if os.environ[name.upper()].strip() else ""
    return str(env_file) if _read_env_file(env_file).get(name.upper(), "").strip() else ""


def problem_of(error: ValidationError) -> tuple[str, str]:
    """(name of the setting, or empty when several do not fit together; what is wrong with it)."""
    first = error.errors()[0]
    message = first["msg"].removeprefix("Value error, ")
    return (str(first["loc"][0]) if first["loc"] else ""), message


def _read_env_file(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read as text: {error}") from None
    for number, line in enumerate(lines, 1):
        if line.strip() and not re.match(r"^\s*(#|(export\s+)?[A-Za-z_]\w*\s*=)", line):
            raise SettingsError(f"{path} line {number} is not NAME=value: {line.strip()[:60]!r}")
    return {name: value or "" for name, value in dotenv_values(path).items()}


def _known(name: str, where: str) -> str:
    if name.lower() in Settings.model_fields:
        return name.lower()
    close = difflib.get_close_matches(name.lower(), Settings.model_fields, n=1)
    hint = f"did you mean {close[0].upper()}?" if close else "env.example lists every setting."
    raise SettingsError(f"unknown setting {name} in {where}; {hint}")


def _one_line(error: ValidationError) -> str:
    name, message = problem_of(error)
    if not name:
        return message
    hint = Settings.model_fields[name].description
    return f"setting {name.upper()}={error.errors()[0]['input']!r}: {message}. {hint}"
