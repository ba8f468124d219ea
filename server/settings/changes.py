"""Settings that operators can change on the dashboard while Docent runs. What a process needs at its start
(ports, folders, databases, numbers of processes and threads) is not among them."""

from collections.abc import Mapping

from pydantic import ValidationError

from server.settings import SETTINGS, Settings
from server.settings.reading import as_text, problem_of

CHANGEABLE = frozenset(name for name, setting in SETTINGS.items() if setting.changeable)
SHOWN_CHARS = 4
DESTINATIONS = {
    "openai_api_key": "openai_base_url",
    "rerank_api_key": "rerank_url",
    "oidc_client_secret": "oidc_issuer",
}
"""Setting of a secret -> setting of the address that it is sent to, and to no other."""


class WrongSetting(Exception):
    """A value is refused. `name` is empty when several values do not fit together."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


def in_forms(*forms: str) -> tuple[str, ...]:
    """The names of the settings in these parts of the dashboard's forms."""
    return tuple(
        name
        for form in forms
        for name, setting in SETTINGS.items()
        if setting.changeable and setting.changeable.form == form
    )


def destination(settings: Settings, secret: str) -> str:
    """Return the address that a secret is sent to; empty for the provider's own."""
    return as_text(settings.value(DESTINATIONS[secret]))


def check_destinations(settings: Settings, given_for: Mapping[str, str]) -> None:
    """Raise WrongSetting for a secret that `settings` would send to another address than it was given for."""
    for secret, address in given_for.items():
        if settings.value(secret) and destination(settings, secret) != address:
            place = destination(settings, secret) or "the provider's own address"
            raise WrongSetting(secret, f"was entered for another address: enter the key for {place}")


def changed(base: Settings, values: Mapping[str, str]) -> Settings:
    """`base` with these values, each written as in an environment; an empty one means the default.
    Raises WrongSetting, also when a secret of `base` would be sent to another address."""
    given = base.given()
    for name, value in values.items():
        if name not in CHANGEABLE:
            raise WrongSetting(name, "cannot be changed while Docent runs")
        given.pop(name, None)
        if value.strip():
            given[name] = value.strip()
    try:
        made = Settings.of(**given).model_copy(update={"started_with": base.at_start})
    except ValidationError as error:
        raise WrongSetting(*problem_of(error)) from None
    check_destinations(made, {name: destination(base, name) for name in DESTINATIONS if name not in values})
    return made


def ending(secret: str) -> str:
    """The end of a secret if it is long enough to give nothing away, after an ellipsis."""
    return f"…{secret[-SHOWN_CHARS:]}" if len(secret) >= 4 * SHOWN_CHARS else "…"


def shown(name: str, settings: Settings) -> str:
    """A value for people. Of a secret it says only that there is one."""
    value = as_text(settings.value(name))
    if not SETTINGS[name].is_secret or not value:
        return value
    if name == "smtp_url":
        scheme, _, rest = value.partition("://")
        return f"{scheme}://{'…@' if '@' in rest else ''}{rest.rpartition('@')[2]}"
    return f"set, ends in {ending(value)}" if len(value) >= 4 * SHOWN_CHARS else "set"
