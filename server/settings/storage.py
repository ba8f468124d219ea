"""Where data is stored, and the servers that several machines share."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field, field_validator

from server.settings.base import SECRET, Group, WebAddress


class StorageSettings(Group):
    """The data folder, and the databases that replace it when Docent runs on several machines."""

    heading: ClassVar = "Storage and scaling"

    data_dir: Path = Field(default=Path("data"), description="Folder that stores all data.")
    database_url: Annotated[str, SECRET] = Field(
        default="",
        description="PostgreSQL database, such as postgresql://user:password@host/name. "
        "Empty: SQLite in DATA_DIR.",
    )
    redis_url: Annotated[str, SECRET] = Field(
        default="",
        description="Redis server for history, rate limits and jobs, such as redis://host:6379/0. "
        "Empty: files in DATA_DIR.",
    )
    chroma_url: WebAddress = Field(
        default="",
        description="Chroma server, such as http://host:8000. Empty: Docent starts one itself.",
    )

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
