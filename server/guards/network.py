"""Which private hosts Docent may connect to, for everything that it connects to by itself.

`crawler.fetching.addresses.AddressGuard` decides; here is what it goes by: the owner's list of private hosts,
and the addresses that whoever started the process gave in its environment.
"""

from collections.abc import Iterable

from crawler.fetching.addresses import AddressGuard, PrivateHost
from server.settings import Settings


def private_hosts(settings: Settings, *own: str) -> tuple[PrivateHost, ...]:
    """Return the owner's list, and the host and port of each address in `own` that is not empty."""
    listed = map(PrivateHost.parse, settings.serving.private_host_texts)
    return (*listed, *filter(None, map(PrivateHost.of, own)))


def with_hosts_of(settings: Settings, addresses: Iterable[str]) -> str:
    """Return the owner's list with the host and port of each of these addresses, as the setting has it."""
    added = map(str, filter(None, map(PrivateHost.of, addresses)))
    return ",".join(dict.fromkeys((*settings.serving.private_host_texts, *added)))


def outgoing(settings: Settings, *own: str, everywhere: bool = False) -> AddressGuard:
    """Return the rule for a connection: `own` are addresses that it may be made to even if they are private,
    `everywhere` permits every private host."""
    return AddressGuard(everywhere, private_hosts=private_hosts(settings, *own))


def for_models(settings: Settings) -> AddressGuard:
    """Return the rule for models: their addresses of the environment are permitted."""
    models = settings.at_start.models
    return outgoing(settings, models.openai_base_url, models.rerank_url)


def for_sign_on(settings: Settings) -> AddressGuard:
    """Return the rule for the provider of single sign-on: the issuer of the environment is permitted."""
    return outgoing(settings, settings.at_start.sign_on.issuer)


def for_mail(settings: Settings) -> AddressGuard:
    """Return the rule for the mail server: that of the environment is permitted."""
    return outgoing(settings, settings.at_start.contact.smtp_url)


def for_webhooks(settings: Settings) -> AddressGuard:
    """Return the rule for webhooks: with WEBHOOK_ALLOW_PRIVATE they reach every private host."""
    return outgoing(settings, everywhere=settings.contact.webhook_allow_private)
