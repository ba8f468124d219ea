"""`python -m server operators`: for people who are locked out of the dashboard."""

import argparse
from contextlib import closing

from server.domain.roles import Role, SiteSet, site_list
from server.errors import StartError
from server.runtime.runtime import Runtime, open_runtime
from server.settings import Settings
from server.storage.people.operators import Operator

HELP = "list the people of the dashboard, invite people, make links for new passwords, change roles and sites"

SHELL = "the shell"


def arguments(parser: argparse.ArgumentParser) -> None:
    """One action, and whom it concerns."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("list", help="everybody with role, second factor and sites")
    inviting = actions.add_parser("invite", help="print a one-time link that creates an account")
    inviting.add_argument("email")
    inviting.add_argument(
        "role",
        choices=[role.value for role in Role],
        nargs="?",
        default=Role.OWNER.value,
        help="default: %(default)s",
    )
    inviting.add_argument("--site", action="append", metavar="ID", help="only this site; may be repeated")
    resetting = actions.add_parser("reset", help="print a one-time link that sets a new password")
    resetting.add_argument("email")
    resetting.add_argument("--second-factor", action="store_true", help="turn the second factor off too")
    changing = actions.add_parser("role", help="change the role and end the sessions")
    changing.add_argument("email")
    changing.add_argument("role", choices=[role.value for role in Role])
    limiting = actions.add_parser("sites", help="limit a person to these sites; without a site: all sites")
    limiting.add_argument("email")
    limiting.add_argument("site", nargs="*", metavar="ID")
    removing = actions.add_parser("remove", help="remove the account and end the sessions")
    removing.add_argument("email")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Every change is in the audit log. Raises StartError, LastOwner."""
    with closing(open_runtime(settings)) as runtime:
        actions = {"list": _list, "invite": _invite, "reset": _reset, "role": _role, "sites": _sites}
        {**actions, "remove": _remove}[options.action](runtime, options)
    return 0


def _list(runtime: Runtime, options: argparse.Namespace) -> None:
    for one in runtime.people.operators.all():
        second = "second factor" if one.has_second_factor else "password alone"
        since = f"since {one.created_at:%Y-%m-%d}"
        print(f"{one.email}\t{one.role.value}\t{second}\t{since}\tsites: {site_list(one.visible_sites)}")
    for link in runtime.people.links.open():
        until = f"{link.ends_at:%Y-%m-%d %H:%M} UTC"
        print(f"{link.email}\t{link.role.value}\topen link ({link.kind.value}), until {until}")


def _invite(runtime: Runtime, options: argparse.Namespace) -> None:
    if runtime.people.operators.find(options.email):
        raise StartError(f"{options.email} has an account already: use reset or role")
    sites = _known(runtime, options.site)
    secret = runtime.people.links.invite(options.email, Role(options.role), SHELL, sites)
    details = {"person": options.email, "role": options.role, "sites": site_list(sites)}
    runtime.people.audit.add(SHELL, "invited", "", details)
    print(f"{runtime.configuration.settings.serving.base_url}/admin/welcome#token={secret}")


def _reset(runtime: Runtime, options: argparse.Namespace) -> None:
    found = _found(runtime, options.email)
    if options.second_factor:
        runtime.people.operators.drop_second_factor(found.id)
        runtime.people.audit.add(SHELL, "turned a second factor off", "", {"person": found.email})
    secret = runtime.people.links.reset(found.id, found.email, found.role, SHELL)
    runtime.people.audit.add(SHELL, "made a link for a new password", "", {"person": found.email})
    print(f"{runtime.configuration.settings.serving.base_url}/admin/new-password#token={secret}")


def _role(runtime: Runtime, options: argparse.Namespace) -> None:
    found = _found(runtime, options.email)
    runtime.people.operators.set_role(found.id, Role(options.role))
    runtime.people.sessions.end_all(found.id)
    details = {"person": found.email, "role": options.role, "before": found.role.value}
    runtime.people.audit.add(SHELL, "changed a role", "", details)
    print(f"{found.email} is now {options.role}.")


def _sites(runtime: Runtime, options: argparse.Namespace) -> None:
    found, sites = _found(runtime, options.email), _known(runtime, options.site)
    runtime.people.operators.set_sites(found.id, sites)
    details = {"person": found.email, "sites": site_list(sites), "before": site_list(found.sites)}
    runtime.people.audit.add(SHELL, "changed the sites of a person", "", details)
    print(f"{found.email} sees these sites: {site_list(None if found.role is Role.OWNER else sites)}.")


def _known(runtime: Runtime, ids: list[str] | None) -> SiteSet:
    """The sites with these ids; None, which is all, without any. Raises UnknownSite."""
    return frozenset(runtime.stores.sites.get(id).id for id in ids) if ids else None


def _remove(runtime: Runtime, options: argparse.Namespace) -> None:
    found = _found(runtime, options.email)
    runtime.people.operators.remove(found.id)
    runtime.people.audit.add(
        SHELL, "removed an operator", "", {"person": found.email, "role": found.role.value}
    )
    print(f"{found.email} is removed.")


def _found(runtime: Runtime, email: str) -> Operator:
    found = runtime.people.operators.find(email)
    if found is None:
        raise StartError(f"nobody has the address {email}: `python -m server operators list` shows everybody")
    return found
