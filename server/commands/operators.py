"""`python -m server operators`: for who has locked himself out of the dashboard."""

import argparse
from contextlib import closing

from server.domain.roles import Role
from server.errors import StartError
from server.runtime.runtime import Runtime, open_runtime
from server.settings import Settings
from server.storage.people.operators import Operator

HELP = "list the people of the dashboard, invite, make a link for a new password, change a role"

SHELL = "the shell"


def arguments(parser: argparse.ArgumentParser) -> None:
    """One action, and whom it concerns."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("list", help="everybody with role and second factor")
    inviting = actions.add_parser("invite", help="a one-time link that makes an account")
    inviting.add_argument("email")
    inviting.add_argument("role", choices=[role.value for role in Role], nargs="?", default=Role.OWNER.value)
    resetting = actions.add_parser("reset", help="a one-time link that sets a new password")
    resetting.add_argument("email")
    resetting.add_argument("--second-factor", action="store_true", help="turn the second factor off too")
    changing = actions.add_parser("role", help="another role; ends the sessions")
    changing.add_argument("email")
    changing.add_argument("role", choices=[role.value for role in Role])
    removing = actions.add_parser("remove", help="take the account away; ends the sessions")
    removing.add_argument("email")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Every change is in the audit log. Raises StartError, LastOwner."""
    with closing(open_runtime(settings)) as runtime:
        {"list": _list, "invite": _invite, "reset": _reset, "role": _role, "remove": _remove}[options.action](
            runtime, options
        )
    return 0


def _list(runtime: Runtime, options: argparse.Namespace) -> None:
    for one in runtime.people.operators.all():
        second = "second factor" if one.has_second_factor else "password alone"
        print(f"{one.email}\t{one.role.value}\t{second}\tsince {one.created_at:%Y-%m-%d}")
    for link in runtime.people.links.open():
        until = f"{link.ends_at:%Y-%m-%d %H:%M}"
        print(f"{link.email}\t{link.role.value}\topen link ({link.kind.value}), until {until}")


def _invite(runtime: Runtime, options: argparse.Namespace) -> None:
    if runtime.people.operators.find(options.email):
        raise StartError(f"{options.email} has an account already: use reset or role")
    secret = runtime.people.links.invite(options.email, Role(options.role), SHELL)
    runtime.people.audit.add(SHELL, "invited", "", {"person": options.email, "role": options.role})
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
