"""What every group of settings shares, and the markers that describe one setting."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


class Group(BaseModel):
    """Settings that belong together. The alias of a field is the name of its environment variable in lower
    case: the field's own name, the name after the group's prefix, or the alias in its `Field`. The docstring
    of a field is its description in `env.example`, in the documentation and on the dashboard."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    heading: ClassVar[str]
    about: ClassVar[str] = ""
    """What the documentation says below the table, such as a link to the page about it."""
    subheadings: ClassVar[Mapping[str, str]] = {}
    """Headings inside the group: the field that each starts with, and its text."""


def prefixed(prefix: str) -> ConfigDict:
    """The configuration of a group whose environment variables all start with `prefix`."""
    return ConfigDict(alias_generator=lambda field: prefix + field)


@dataclass(frozen=True, slots=True)
class Changeable:
    """Marks a setting that the dashboard can change while Docent runs."""

    form: str
    """The part of the dashboard's forms that shows it."""
    long: bool = False
    """Whether its field has several lines."""


@dataclass(frozen=True, slots=True)
class Secret:
    """Marks a setting that is never shown in full."""


SECRET = Secret()

RATE = r"^\d+ ?(/|per) ?(second|minute|hour|day)$"
RateLimit = Annotated[str, Field(pattern=RATE)]
"""Such as 20/minute."""


def written_as(form: str, problem: str) -> AfterValidator:
    """Return the check that a value is empty or has the form of this regular expression."""
    pattern = re.compile(form)

    def check(value: str) -> str:
        if value and not pattern.fullmatch(value):
            raise ValueError(problem)
        return value

    return AfterValidator(check)


def _web_address(value: str) -> str:
    if value and not re.match(r"^https?://[^/\s]+", value):
        raise ValueError("is not an address that starts with http:// or https://")
    return value if value.endswith("//") else value.rstrip("/")


ADDRESS = AfterValidator(_web_address)
WebAddress = Annotated[str, ADDRESS]
"""Empty, or an address without a slash at its end."""


_WHAT_TO_WRITE = {
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "write a whole number"),
    **dict.fromkeys(("float_parsing", "float_type", "finite_number"), "write a number"),
    **dict.fromkeys(("bool_parsing", "bool_type"), "write 1 for yes or 0 for no"),
    "greater_than_equal": "write {ge} or more",
    "greater_than": "write more than {gt}",
    "less_than_equal": "write {le} or less",
    "less_than": "write less than {lt}",
    "string_too_long": "write at most {max_length} characters",
    "string_too_short": "write at least {min_length} characters",
    **dict.fromkeys(("literal_error", "enum"), "choose one of: {expected}"),
}
"""Type of pydantic's error -> what it says to people."""


def what_to_write(error: Mapping[str, Any]) -> str:
    """What is wrong with a value, as a sentence without a full stop."""
    known = _WHAT_TO_WRITE.get(error["type"])
    if known is None:
        return str(error["msg"].removeprefix("Value error, "))
    bounds = error.get("ctx", {}).items()
    return known.format(
        **{name: int(one) if isinstance(one, float) and one.is_integer() else one for name, one in bounds}
    )
