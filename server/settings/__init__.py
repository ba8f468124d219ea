"""All settings: one immutable object with a group for each topic, and the table of their names.

`server.settings.reading` reads them from the environment and `.env`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.fields import FieldInfo

from server.settings.base import SECRET, Changeable, Group
from server.settings.contact import ContactSettings, PrivacySettings
from server.settings.crawling import CrawlingSettings, SourceSettings
from server.settings.models import ModelSettings
from server.settings.quality import GapSettings, QualitySettings
from server.settings.retrieval import RetrievalSettings
from server.settings.serving import LimitSettings, ServingSettings, StorageSettings
from server.settings.sign_on import SignOnSettings
from server.settings.tuning import Tuning


class Settings(BaseModel):
    """The groups, in the order of `env.example`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    serving: ServingSettings = Field(default_factory=ServingSettings)
    storage: StorageSettings = Field(default_factory=StorageSettings)
    models: ModelSettings = Field(default_factory=ModelSettings)
    retrieval: RetrievalSettings = Field(default_factory=RetrievalSettings)
    tuning: Tuning = Field(default_factory=Tuning)
    limits: LimitSettings = Field(default_factory=LimitSettings)
    sign_on: SignOnSettings = Field(default_factory=SignOnSettings)
    privacy: PrivacySettings = Field(default_factory=PrivacySettings)
    contact: ContactSettings = Field(default_factory=ContactSettings)
    crawling: CrawlingSettings = Field(default_factory=CrawlingSettings)
    sources: SourceSettings = Field(default_factory=SourceSettings)
    quality: QualitySettings = Field(default_factory=QualitySettings)
    gaps: GapSettings = Field(default_factory=GapSettings)

    started_with: "Settings | None" = Field(default=None, repr=False)
    """The settings of the environment, where those of the dashboard changed them."""

    @property
    def at_start(self) -> "Settings":
        """The settings of the environment, which are the word of whoever runs the server."""
        return self.started_with or self

    @classmethod
    def of(cls, **values: Any) -> Self:
        """Settings with `values` by the lower-case names of their environment variables, such as
        `Settings.of(crawl_delay_s=0)`. Raises ValidationError."""
        groups: dict[str, dict[str, Any]] = {}
        for name, value in values.items():
            groups.setdefault(SETTINGS[name].group, {})[name] = value
        return cls.model_validate(groups)

    def with_values(self, values: Mapping[str, Any]) -> Self:
        """A copy with `values` by name. Raises ValidationError."""
        return self.of(**{**self.given(), **values}).model_copy(update={"started_with": self.started_with})

    def given(self) -> dict[str, Any]:
        """The settings that were given a value, by name. The others have their defaults."""
        return {name: self.value(name) for name, one in SETTINGS.items() if one.is_given(self)}

    def value(self, name: str) -> Any:
        """The value of the setting with this lower-case name."""
        setting = SETTINGS[name]
        return getattr(getattr(self, setting.group), setting.field)

    @model_validator(mode="after")
    def _has_reranker(self) -> Self:
        if self.tuning.rerank == "cross-encoder" and not self.models.rerank_url:
            raise ValueError("RERANK_URL must be set for TUNE_RERANK=cross-encoder")
        return self

    @model_validator(mode="after")
    def _has_key_directory(self) -> Self:
        if self.crawling.sign_requests and not self.serving.public_url.startswith("https://"):
            raise ValueError("PUBLIC_URL must be an https address for CRAWL_SIGN_REQUESTS=1")
        return self


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a setting is in `Settings`, and what is known about it."""

    name: str
    """The environment variable in lower case."""
    group: str
    field: str
    info: FieldInfo

    @property
    def default(self) -> Any:
        return self.info.default

    @property
    def description(self) -> str:
        return " ".join((self.info.description or "").split())

    @property
    def annotation(self) -> Any:
        return self.info.annotation

    @property
    def is_secret(self) -> bool:
        return SECRET in self.info.metadata

    @property
    def changeable(self) -> Changeable | None:
        """How the dashboard shows it, or None if it can only be changed by a restart."""
        return next((mark for mark in self.info.metadata if isinstance(mark, Changeable)), None)

    def is_given(self, settings: Settings) -> bool:
        """Whether it was given a value, even one equal to the default."""
        return self.field in getattr(settings, self.group).model_fields_set


GROUPS: Mapping[str, type[Group]] = {
    name: field.annotation
    for name, field in Settings.model_fields.items()
    if isinstance(field.annotation, type)
}
"""Attribute of `Settings` -> class of the group."""

SETTINGS: Mapping[str, Setting] = {
    (info.alias or field): Setting(info.alias or field, group, field, info)
    for group, kind in GROUPS.items()
    for field, info in kind.model_fields.items()
}
"""Every setting by the lower-case name of its environment variable."""
