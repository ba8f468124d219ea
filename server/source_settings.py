"""What a site may have beside its website, and how much of it."""

from __future__ import annotations

from pydantic import BaseModel, Field


class SourceSettings(BaseModel):
    """A part of `server.settings.Settings`."""

    # --- Sources beside the website
    sources_file_bytes: int = Field(
        20_000_000, ge=1000, description="Largest file that is uploaded, or read from a folder."
    )
    sources_upload_bytes: int = Field(
        100_000_000, ge=1000, description="Largest upload: several files at once, or an archive unpacked."
    )
    sources_site_bytes: int = Field(
        1_000_000_000, ge=1000, description="What the sources of one site may take in the database."
    )
    sources_files: int = Field(10_000, ge=1, description="Files read from one folder.")
