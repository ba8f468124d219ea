"""The web server: where it listens, where its data is, and what its callers may do in a given time."""

import re
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from crawler.fetching.addresses import PrivateHost
from server.settings.base import SECRET, Changeable, Group, RateLimit, WebAddress, written_as

KEY_CHARS = 32
_TOKEN = written_as(
    r"[\x21-\x7e]{16,}", "is not a text of at least 16 letters, digits and signs without spaces"
)
_DATABASE = written_as(
    r"(?s:(sqlite:///|postgresql(\+psycopg)?://).*)", "does not start with postgresql:// or sqlite:///"
)
_REDIS = written_as(
    r"unix://\S+|rediss?://([^@/?#\s]*@)?(\[[0-9a-fA-F:.]+\]|[^@/?#\s:\[]*)(:\d{1,5})?(/\d*)?(\?[^#\s]*)?",
    "is not an address such as redis://:password@host:6379/0. In a password write %40 for @, %2F for /, "
    "%3F for ? and %23 for #",
)


_CONTACT = r"\s*(mailto:[^\s@,]+@[^\s@,]+|https://[^\s,]+|tel:\+?[\d().-]+)\s*"
SECURITY_CONTACT = written_as(
    f"{_CONTACT}(,{_CONTACT})*", "is not a list of mailto:, https: or tel: addresses"
)
"""Addresses as security.txt takes them, separated by commas."""


class ServingSettings(Group):
    """Addresses, processes and the signing key of the web server."""

    heading: ClassVar = "Serving"

    host: str = "127.0.0.1"
    """Network address that the server listens on. 0.0.0.0 listens on all interfaces."""
    port: int = Field(default=8000, ge=1, le=65535)
    """Port of the web server."""
    public_url: WebAddress = ""
    """Address that visitors use to reach this server, such as https://chat.example.com. Empty:
    http://HOST:PORT."""
    allowed_hosts: str = ""
    """Further hosts under which the server answers, such as chat.example.com,.example.org. Empty: the host
    of PUBLIC_URL and this machine; without PUBLIC_URL also HOST, or every IP address if that is 0.0.0.0."""
    uploads_url: WebAddress = ""
    """Other address of this server for uploaded files and their pages, such as https://files.example.com:
    nothing else is served there. Empty: they are served at PUBLIC_URL, in a sandbox."""
    site: WebAddress = ""
    """Website to crawl when Docent starts for the first time, such as https://example.com. A site that you
    remove is not added again. Empty: Docent's own documentation at /docs/."""
    web_workers: int = Field(default=2, ge=1, le=64)
    """Number of web server processes."""
    web_threads: int = Field(default=400, ge=1, le=4000)
    """Threads of each web server process. Each thread can stream one answer at a time."""
    trusted_proxies: int = Field(default=0, ge=0, le=5)
    """Number of reverse proxies in front of Docent whose X-Forwarded-For header is trusted."""
    secret_key: Annotated[str, SECRET] = ""
    """Key that signs tokens and sessions and seals secrets, at least 32 characters. Set the same key on every
    replica. Empty: a key is created and stored in DATA_DIR."""
    secret_key_old: Annotated[str, SECRET] = ""
    """Earlier keys, separated by commas. What they signed and sealed is still accepted. Remove them after
    `keys rotate`, when the tokens that they signed have expired."""
    private_hosts: Annotated[str, Changeable("network")] = ""
    """Hosts and networks of your own that Docent may connect to, such as
    wiki.lan,10.0.0.7:8080,192.168.0.0/24. It refuses all others: crawls, sources, webhooks, mail, models and
    single sign-on. Addresses in the environment are permitted for their own purpose."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severe messages to log: debug, info, warning or error."""
    log_format: Literal["text", "json"] = "text"
    """Form of the log: text for people, or json with one JSON object on each line for programs."""
    metrics_port: int = Field(default=0, ge=0, le=65535)
    """Port that serves metrics for Prometheus at /metrics, and nothing else. 0: no such port."""
    metrics_host: str = "127.0.0.1"
    """Network address of METRICS_PORT. 0.0.0.0 listens on all interfaces."""
    metrics_token: Annotated[str, _TOKEN, SECRET] = ""
    """Bearer token, at least 16 characters, with which the main port serves /metrics. Empty: it does not."""
    otlp_endpoint: WebAddress = Field(default="", alias="otel_exporter_otlp_endpoint")
    """OpenTelemetry collector that takes traces over HTTP, such as http://127.0.0.1:4318. Empty: none are
    made."""
    security_contact: Annotated[str, SECURITY_CONTACT] = ""
    """Where to report a vulnerability of this server, for /.well-known/security.txt: mailto:, https: or tel:
    addresses, separated by commas. Empty: there is no such file."""
    security_policy: WebAddress = ""
    """Address of your policy for reports of vulnerabilities, for security.txt."""
    security_encryption: WebAddress = ""
    """Address of the public key for encrypted reports, for security.txt."""

    @field_validator("secret_key")
    @classmethod
    def _is_long(cls, value: str) -> str:
        if value and len(value) < KEY_CHARS:
            raise ValueError(
                f"has fewer than {KEY_CHARS} characters, so it could be guessed: make one with "
                '`python -c "import secrets; print(secrets.token_hex(32))"`, and set the short one as '
                "SECRET_KEY_OLD if it was in use"
            )
        return value

    @field_validator("private_hosts")
    @classmethod
    def _are_hosts(cls, value: str) -> str:
        for text in _listed(value):
            PrivateHost.parse(text)
        return value

    @model_validator(mode="after")
    def _has_two_ports(self) -> Self:
        if self.metrics_port == self.port:
            raise ValueError("METRICS_PORT is PORT; choose another, or set METRICS_TOKEN instead")
        return self

    @property
    def has_metrics(self) -> bool:
        """Whether anything is counted for Prometheus."""
        return bool(self.metrics_port or self.metrics_token)

    @property
    def old_keys(self) -> tuple[str, ...]:
        """Earlier keys, as they are listed."""
        return _listed(self.secret_key_old)

    @property
    def private_host_texts(self) -> tuple[str, ...]:
        """The entries of `private_hosts`."""
        return _listed(self.private_hosts)

    @property
    def local_host(self) -> str:
        """Host under which programs of this machine reach the server."""
        return "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host

    @property
    def local_url(self) -> str:
        """Address under which programs of this machine reach the server, without a slash at the end."""
        host = f"[{self.local_host}]" if ":" in self.local_host else self.local_host
        return f"http://{host}:{self.port}"

    @property
    def base_url(self) -> str:
        """Address under which visitors reach this server, without a slash at the end."""
        return self.public_url or self.local_url


def _listed(value: str) -> tuple[str, ...]:
    return tuple(filter(None, re.split(r"[\s,]+", value)))


class StorageSettings(Group):
    """The data folder, and the databases that replace it when Docent runs on several machines."""

    heading: ClassVar = "Storage and scaling"

    data_dir: Path = Path("data")
    """Folder that stores all data."""
    models_dir: str = ""
    """Folder of the prepared embedded model, such as one of a container image. Empty: DATA_DIR/models."""
    disk_free_mb: int = Field(default=500, ge=0)
    """Least free space on the disk of DATA_DIR, in megabytes. Below it crawls and index builds stop, so that
    conversations can still be stored. 0: no check."""
    backup_before_upgrade: bool = True
    """Write a backup to DATA_DIR/backups before a newer version of Docent changes the tables of the database.
    The newest three are kept."""
    database_url: Annotated[str, _DATABASE, SECRET] = ""
    """PostgreSQL database, such as postgresql://user:password@host/name. Empty: SQLite in DATA_DIR."""
    redis_url: Annotated[str, _REDIS, SECRET] = ""
    """Redis server for history, rate limits and jobs, such as redis://host:6379/0. Empty: files in
    DATA_DIR."""
    chroma_url: WebAddress = ""
    """Chroma server, such as http://host:8000. Empty: Docent starts one itself."""
    chroma_open_indexes: int = Field(default=32, ge=8)
    """Vector indexes that the Chroma server of Docent keeps in memory, each with its vectors and about 5 open
    files. Another one takes the place of the one that was least recently used. Only crawls, and searches of
    sites with more than EXACT_SEARCH_CHUNKS, use them."""

    @property
    def models_folder(self) -> Path:
        """Folder of the prepared embedded model."""
        own = Path(self.models_dir) if self.models_dir else self.data_dir / "models"
        return own.expanduser().resolve()


class LimitSettings(Group):
    """Rate limits, sizes of requests and lifetimes of sessions."""

    heading: ClassVar = "Limits"
    subheadings: ClassVar = {
        "message_chars": "Visitors",
        "login_limit": "Operators and API clients",
        "header_s": "Connections",
    }

    message_chars: Annotated[int, Changeable("visitors")] = Field(default=2000, ge=10)
    """Longest question, in characters."""
    body_bytes: int = Field(default=65_536, ge=1024)
    """Largest body of a request, in bytes."""
    selection_chars: int = Field(default=1000, ge=50)
    """Longest text that a visitor can select on a page and ask about, in characters."""
    visitor_token_hours: float = Field(default=24.0, gt=0)
    """How long a visitor's token is valid, in hours."""
    visitor_limit: Annotated[RateLimit, Changeable("visitors")] = "20/minute"
    """Questions that one visitor may ask, such as 20/minute."""
    address_limit: Annotated[RateLimit, Changeable("visitors")] = "120/minute"
    """Questions from one network address, such as 120/minute."""
    token_limit: Annotated[RateLimit, Changeable("visitors")] = "60/minute"
    """New visitor tokens for one network address, such as 60/minute."""
    proof_on_surge: Annotated[bool, Changeable("visitors")] = True
    """1 asks new visitors of a site for a proof of work while the site gets far more questions than usual. 0:
    only where a site is set so."""
    login_limit: Annotated[RateLimit, Changeable("signin")] = "10/minute"
    """Login attempts from one network address, such as 10/minute."""
    session_hours: float = Field(default=12.0, gt=0)
    """How long an operator stays logged in, in hours."""
    session_idle_minutes: Annotated[int, Changeable("signin")] = Field(default=30, ge=2)
    """How long an operator stays logged in without opening a page, in minutes."""
    confirm_minutes: Annotated[int, Changeable("signin")] = Field(default=10, ge=1, le=720)
    """How long after a sign-in the settings can be changed without giving the password or a code again, in
    minutes."""
    require_second_factor: Annotated[bool, Changeable("signin")] = False
    """1 makes everybody without a second factor set one up at the next page, before anything else."""
    api_limit: Annotated[RateLimit, Changeable("access")] = "120/minute"
    """Requests with one API key, such as 120/minute."""
    header_s: float = Field(default=10.0, gt=0, alias="request_header_s")
    """Time limit for a client to send the headers of a request, in seconds."""
    body_s: float = Field(default=20.0, gt=0, alias="request_body_s")
    """Time limit for a client to send the body of a request or to read an answer, in seconds. Large ones get
    more time: see MIN_BYTES_PER_S."""
    min_rate: int = Field(default=2000, ge=1, alias="min_bytes_per_s")
    """Slowest connection that is served, in bytes a second. A body or an answer may take REQUEST_BODY_S and
    the time that its size takes at this rate."""
    address_connections: int = Field(default=400, ge=0)
    """Open connections of each web server process from one network address. 0: no limit. It does not apply
    to this machine, nor with TRUSTED_PROXIES."""
