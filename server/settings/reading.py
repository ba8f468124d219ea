"""Reads settings from the environment and from `.env`. No other module reads the environment."""

import difflib
import os
import re
from pathlib import Path

from pydantic import ValidationError
from pydantic_settings import BaseSettings, DotEnvSettingsSource, EnvSettingsSource, SettingsConfigDict

from server.settings import SETTINGS, Settings
from server.settings.base import what_to_write


class SettingsError(Exception):
    """One line that names the setting, what is wrong with it and what to write instead."""


class _Variables(BaseSettings):
    """Tells the sources to leave names as they are written."""

    model_config = SettingsConfigDict(case_sensitive=True)


def load_settings(overrides: dict[str, str] | None = None, env_file: Path = Path(".env")) -> Settings:
    """Settings from, in order of precedence: `overrides`, the environment, `env_file`, the defaults.

    Raises SettingsError for an unknown name in `env_file` or `overrides`, and for a value out of range.
    """
    values = {_known(name, str(env_file)): value for name, value in _file_values(env_file).items()}
    values |= _environment_values()
    for name, value in (overrides or {}).items():
        values[_known(name, "the command line")] = value
    # An empty value means the default, as `NAME=` in a file or a compose template does.
    given = {name: value.strip() for name, value in values.items() if value.strip()}
    try:
        return Settings.of(**given)
    except ValidationError as error:
        raise SettingsError(_one_line(error)) from None


def environment(settings: Settings) -> dict[str, str]:
    """The process environment with these settings in it, for child processes."""
    # Only given settings: a child process tells them from the defaults, and reads the same .env.
    return {**os.environ, **{name.upper(): as_text(value) for name, value in settings.given().items()}}


def set_for_libraries(name: str, value: str) -> str:
    """Set a variable that a library reads, unless the environment has it; return its value."""
    return os.environ.setdefault(name, value)


def as_text(value: object) -> str:
    """A value as it is written in an environment."""
    return str(int(value)) if isinstance(value, bool) else str(value)


def given_where(name: str, env_file: Path = Path(".env")) -> str:
    """Where the value of a setting comes from: "the environment", `env_file`, or empty for neither."""
    variables = _environment_values()
    if name in variables:
        return "the environment" if variables[name].strip() else ""
    return str(env_file) if _file_values(env_file).get(name.upper(), "").strip() else ""


def problem_of(error: ValidationError) -> tuple[str, str]:
    """(lower-case name of the setting, or empty when several do not fit together; what is wrong)."""
    first = error.errors()[0]
    return next((str(part) for part in first["loc"][1:]), ""), what_to_write(first)


def _environment_values() -> dict[str, str]:
    variables = EnvSettingsSource(_Variables).env_vars
    values = {name: variables[name.upper()] or "" for name in SETTINGS if name.upper() in variables}
    for name, setting in SETTINGS.items():
        path = variables.get(f"{name.upper()}_FILE")
        if path and setting.is_secret and not values.get(name):
            values[name] = _secret(name, Path(path))
    return values


def _secret(name: str, path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{name.upper()}_FILE={path} cannot be read as text: {error}") from None


def _file_values(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read as text: {error}") from None
    for number, line in enumerate(lines, 1):
        if line.strip() and not re.match(r"^\s*(#|(export\s+)?[A-Za-z_]\w*\s*=)", line):
            raise SettingsError(f"{path} line {number} is not NAME=value: {line.strip()[:60]!r}")
    variables = DotEnvSettingsSource(_Variables, env_file=path).env_vars
    return {name: value or "" for name, value in variables.items()}


def _known(name: str, where: str) -> str:
    if name.lower() in SETTINGS:
        return name.lower()
    close = difflib.get_close_matches(name.lower(), SETTINGS, n=1)
    hint = f"did you mean {close[0].upper()}?" if close else "env.example lists every setting."
    raise SettingsError(f"unknown setting {name} in {where}; {hint}")


def _one_line(error: ValidationError) -> str:
    name, message = problem_of(error)
    if not name:
        return message
    value = "" if SETTINGS[name].is_secret else f"={error.errors()[0]['input']!r}"
    return f"setting {name.upper()}{value}: {message}. {SETTINGS[name].description}"
