"""Sizes of the files that a site has in addition to its website."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from server.settings.base import Group, prefixed


class SourceSettings(Group):
    """Limits of uploads and folders."""

    model_config = prefixed("sources_")
    heading: ClassVar = "Uploaded files and folders"

    file_bytes: int = Field(
        default=20_000_000, ge=1000, description="Largest file in an upload or a folder, in bytes."
    )
    upload_bytes: int = Field(
        default=100_000_000,
        ge=1000,
        description="Largest upload, in bytes: all its files together, with archives unpacked.",
    )
    site_bytes: int = Field(
        default=1_000_000_000,
        ge=1000,
        description="Space in the database for the uploaded files and folders of one site, in bytes.",
    )
    files: int = Field(default=10_000, ge=1, description="Most files read from one folder.")
