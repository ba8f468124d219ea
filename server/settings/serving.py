"""The web server: where it listens, and how many requests it handles at once."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from server.settings.base import SECRET, Group, WebAddress


class ServingSettings(Group):
    """Addresses, processes and the signing key of the web server."""

    heading: ClassVar = "Serving"

    host: str = Field(
        default="127.0.0.1",
        description="Network address that the server listens on. 0.0.0.0 listens on all interfaces.",
    )
    port: int = Field(default=8000, ge=1, le=65535, description="Port of the web server.")
    public_url: WebAddress = Field(
        default="",
        description="Address that visitors use to reach this server, such as https://chat.example.com. "
        "Empty: http://HOST:PORT.",
    )
    site: WebAddress = Field(
        default="",
        description="Website to crawl when Docent starts for the first time, such as https://example.com. "
        "Empty: Docent's own documentation at /docs/.",
    )
    web_workers: int = Field(default=2, ge=1, le=64, description="Number of web server processes.")
    web_threads: int = Field(
        default=400,
        ge=1,
        le=4000,
        description="Threads of each web server process. Each thread can stream one answer at a time.",
    )
    trusted_proxies: int = Field(
        default=0,
        ge=0,
        le=5,
        description="Number of reverse proxies in front of Docent whose X-Forwarded-For header is trusted.",
    )
    secret_key: Annotated[str, SECRET] = Field(
        default="",
        description="Key that signs tokens and sessions. Set the same key on every replica. "
        "Empty: a key is created and stored in DATA_DIR.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least severe messages to log: debug, info, warning or error."
    )

    @property
    def base_url(self) -> str:
        """Address under which visitors reach this server, without a slash at the end."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        return self.public_url or f"http://{host}:{self.port}"
