"""Accounts of the dashboard, their sessions, and the links for invitations and password resets."""

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import uuid4

from sqlalchemy import ColumnElement, Connection, delete, exists, func, insert, select, update

from server.domain.roles import Role, SiteSet
from server.storage.columns import now
from server.storage.errors import LastOwner, OperatorExists
from server.storage.schema.people import (
    operator_links,
    operator_sessions,
    operators,
    passkeys,
    recovery_codes,
    setup_tokens,
)
from server.storage.statements import lock
from server.storage.store import Store, columns_of, raising

_OWNERS_LOCK = 0x6F776E6572


@dataclass(frozen=True, slots=True)
class Operator:
    """A person who runs the dashboard."""

    id: int
    email: str
    """In lower case."""
    password_hash: str
    created_at: datetime
    role: Role = Role.OWNER
    totp_secret: str = ""
    """Sealed; empty without an authenticator app."""
    sites: SiteSet = None
    """The sites that were given to this person. An owner sees all of them regardless."""
    language: str = ""
    """Code of the language of the dashboard; empty for what the browser asks for."""
    digest: bool | None = None
    """Whether this person chose the weekly digest; None for no choice."""
    digest_week: str = ""
    """Monday of the week of the last digest, as an ISO date."""

    has_passkey: bool = False

    @property
    def has_app(self) -> bool:
        """Whether an authenticator app makes codes for this account."""
        return bool(self.totp_secret)

    @property
    def visible_sites(self) -> SiteSet:
        """The sites that this person sees and, as an editor, changes."""
        return None if self.role is Role.OWNER else self.sites

    @property
    def wants_digest(self) -> bool:
        """Whether this person gets the weekly digest: owners do unless they turn it off."""
        return self.role is Role.OWNER if self.digest is None else self.digest

    @property
    def has_second_factor(self) -> bool:
        return self.has_app or self.has_passkey


_HAS_PASSKEY = exists().where(passkeys.c.operator_id == operators.c.id).label("has_passkey")
OPERATOR = columns_of(Operator, operators, has_passkey=_HAS_PASSKEY)


class OperatorStore(Store):
    """Operators by e-mail address, in any case. Passwords are hashed by the caller."""

    def count(self) -> int:
        """How many operators there are."""
        return int(self._scalar(select(func.count()).select_from(operators)))

    def all(self) -> list[Operator]:
        """All operators, by address."""
        return [operator_of(row) for row in self._rows(select(*OPERATOR).order_by(operators.c.email))]

    def create(self, email: str, password_hash: str, role: Role = Role.OWNER, sites: SiteSet = None) -> int:
        """Stores an operator; returns the number. Raises OperatorExists."""
        row = {"email": _address(email), "password_hash": password_hash, "created_at": now(), "role": role}
        row["sites"] = _listed(sites)
        taken = OperatorExists(f"an operator with the address {email!r} exists: log in instead")
        with raising(taken), self._db.begin() as connection:
            made = connection.execute(insert(operators).values(row).returning(operators.c.id))
            return int(made.scalar_one())

    def find(self, email: str) -> Operator | None:
        """The operator with this address, or None."""
        return self._one(operators.c.email == _address(email))

    def get(self, id: int) -> Operator | None:
        """The operator with this number, or None."""
        return self._one(operators.c.id == id)

    def set_password(self, id: int, password_hash: str) -> int:
        """Set a new password. Links to reset the old one, and invitations that its owner made, stop working:
        whoever knew it may have made them. Return the number of links. An unknown number is no error."""
        theirs = (operator_links.c.operator_id == id) | _made_by(id)
        with self._db.begin() as connection:
            found = operators.c.id == id
            connection.execute(update(operators).where(found).values(password_hash=password_hash))
            return connection.execute(delete(operator_links).where(theirs)).rowcount

    def set_role(self, id: int, role: Role) -> None:
        """Set the role. Links that somebody made as an owner stop working with that role. Raises LastOwner if
        there is no other owner. An unknown number is no error."""
        with self._db.begin() as connection:
            if role is not Role.OWNER:
                _require_other_owner(connection, id)
                connection.execute(delete(operator_links).where(_made_by(id)))
            connection.execute(update(operators).where(operators.c.id == id).values(role=role))

    def set_sites(self, id: int, sites: SiteSet) -> None:
        """Replace the sites given to an operator. An unknown number is no error."""
        self.change(id, sites=_listed(sites))

    def change(self, id: int, **values: object) -> None:
        """Change `language`, `digest`, or `password_hash` to a stronger one of the same password. An unknown
        number is no error."""
        self._write(update(operators).where(operators.c.id == id).values(**values))

    def note_digest(self, id: int, week: str, before: str) -> bool:
        """Note the week of the last digest; False if it was not `before` any more, for then another process
        noted it."""
        same = (operators.c.id == id, operators.c.digest_week == before)
        return bool(self._write(update(operators).where(*same).values(digest_week=week)))

    def remove(self, id: int) -> None:
        """Delete an operator with all sessions, and the links that this operator made for others. Raises
        LastOwner. An unknown number is no error."""
        with self._db.begin() as connection:
            _require_other_owner(connection, id)
            connection.execute(delete(operator_links).where(_made_by(id)))
            connection.execute(delete(operators).where(operators.c.id == id))

    def set_second_factor(self, id: int, sealed: str, step: int, recovery: Iterable[str]) -> None:
        """Turn the second factor on: a login needs a code of this secret, or a recovery code, each once."""
        with self._db.begin() as connection:
            changed = update(operators).where(operators.c.id == id)
            connection.execute(changed.values(totp_secret=sealed, totp_step=step))
            _replace_codes(connection, id, recovery)

    def drop_second_factor(self, id: int, *, keep_passkeys: bool = False) -> None:
        """Forget the authenticator app and, unless they are kept, every passkey. Recovery codes go with the
        last of them."""
        with self._db.begin() as connection:
            changed = update(operators).where(operators.c.id == id)
            connection.execute(changed.values(totp_secret="", totp_step=0))
            theirs = passkeys.c.operator_id == id
            if not keep_passkeys:
                connection.execute(delete(passkeys).where(theirs))
            if connection.execute(select(passkeys.c.id).where(theirs)).first() is None:
                _replace_codes(connection, id, ())

    def set_recovery_codes(self, id: int, codes: Iterable[str]) -> None:
        """Replace the recovery codes."""
        with self._db.begin() as connection:
            _replace_codes(connection, id, codes)

    def use_step(self, id: int, step: int) -> bool:
        """True for a later time step than any before, so that a code cannot be used twice."""
        newer = update(operators).where(operators.c.id == id, operators.c.totp_step < step)
        return self._write(newer.values(totp_step=step)) == 1

    def use_recovery_code(self, id: int, code: str) -> bool:
        """Use a recovery code up; true once for each code."""
        ours = (recovery_codes.c.operator_id == id, recovery_codes.c.hash == hash_of(code))
        return self._write(delete(recovery_codes).where(*ours)) == 1

    def recovery_codes_left(self, id: int) -> int:
        """Number of recovery codes left."""
        left = select(func.count()).select_from(recovery_codes).where(recovery_codes.c.operator_id == id)
        return int(self._scalar(left))

    def setup_token(self) -> str:
        """Create a setup token and return it; an earlier one stops working. Only its hash is stored."""
        token = secrets.token_urlsafe(32)
        with self._db.begin() as connection:
            connection.execute(delete(setup_tokens))
            connection.execute(insert(setup_tokens).values(token_hash=hash_of(token), made_at=now()))
        return token

    def use_setup_token(self, token: str) -> bool:
        """Use the setup token up; true once, for the newest token."""
        return self._write(delete(setup_tokens).where(setup_tokens.c.token_hash == hash_of(token))) == 1

    def _one(self, which: ColumnElement[bool]) -> Operator | None:
        row = self._row(select(*OPERATOR).where(which))
        return None if row is None else operator_of(row)


def operator_of(row: Sequence[Any]) -> Operator:
    """The operator of a row of OPERATOR."""
    found = Operator(*row)
    return replace(found, role=Role(found.role), sites=_site_set(found.sites))


def _made_by(operator_id: int) -> ColumnElement[bool]:
    """Links that this operator made, and so knows."""
    email = select(operators.c.email).where(operators.c.id == operator_id).scalar_subquery()
    return operator_links.c.made_by == email


def _listed(sites: SiteSet) -> list[str] | None:
    return None if sites is None else sorted(sites)


def _site_set(stored: Iterable[str] | None) -> SiteSet:
    return None if stored is None else frozenset(stored)


def forget_site(connection: Connection, site_id: str) -> None:
    """Take a removed site from everybody: a new one with the same id must not be theirs."""
    for table in (operators, operator_links):
        (key,) = table.primary_key
        for row in connection.execute(select(key, table.c.sites)).all():
            if site_id in (row.sites or ()):
                left = [one for one in row.sites if one != site_id]
                connection.execute(update(table).where(key == row[0]).values(sites=left))


def _require_other_owner(connection: Connection, id: int) -> None:
    """Two owners who remove each other at the same moment must not both succeed."""
    lock(connection, _OWNERS_LOCK)
    owners = select(operators.c.id).where(operators.c.role == Role.OWNER)
    known = set(connection.execute(owners).scalars())
    if id in known and len(known) == 1:
        raise LastOwner("this is the only owner: make another operator an owner first")


def _replace_codes(connection: Connection, id: int, codes: Iterable[str]) -> None:
    connection.execute(delete(recovery_codes).where(recovery_codes.c.operator_id == id))
    if rows := [{"operator_id": id, "hash": hash_of(code)} for code in codes]:
        connection.execute(insert(recovery_codes), rows)


def _address(email: str) -> str:
    return email.strip().lower()


def hash_of(token: str) -> str:
    """How a secret of 256 random bits is stored: one pass of SHA-256 is enough for it."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


SEEN_EVERY = timedelta(minutes=1)
"""How often the requests of a session update `seen_at`."""
NEVER = timedelta(days=36_500)
SHOWN = 100


@dataclass(frozen=True, slots=True)
class OperatorSession:
    """One browser that is logged in."""

    id: str
    """For ending the session. It does not log in: the browser has a separate secret, stored as a hash."""
    operator_id: int
    started_at: datetime
    seen_at: datetime
    ends_at: datetime
    address: str
    browser: str
    confirmed_at: datetime | None
    """When its person last gave the password, a code or another proof."""


SESSION = columns_of(OperatorSession, operator_sessions)


class SessionStore(Store):
    """Sessions by the secret of the browser."""

    def start(self, operator_id: int, lifetime: timedelta, address: str, browser: str) -> str:
        """Start a session; return its secret. Deletes expired sessions."""
        secret, at = secrets.token_urlsafe(32), now()
        made = OperatorSession(
            *(uuid4().hex, operator_id, at, at, at + lifetime, address[:100], browser[:300], at)
        )
        with self._db.begin() as connection:
            connection.execute(delete(operator_sessions).where(operator_sessions.c.ends_at <= at))
            connection.execute(insert(operator_sessions), {"hash": hash_of(secret), **asdict(made)})
        return secret

    def find(
        self, secret: str, idle: timedelta, *, is_use: bool = True
    ) -> tuple[OperatorSession, Operator] | None:
        """The session with this secret and its operator; None if it was ended, has expired, or was not used
        for `idle`. Without `is_use`, this request does not count as a use."""
        at = now()
        theirs = (
            select(*SESSION, *OPERATOR)
            .join(operators, operators.c.id == operator_sessions.c.operator_id)
            .where(operator_sessions.c.hash == hash_of(secret), *_open(idle))
        )
        row = self._row(theirs)
        if row is None:
            return None
        found = OperatorSession(*row[: len(SESSION)])
        if is_use and at - found.seen_at > SEEN_EVERY:
            self._write(
                update(operator_sessions).where(operator_sessions.c.id == found.id).values(seen_at=at)
            )
        return found, operator_of(row[len(SESSION) :])

    def confirm(self, id: str) -> None:
        """Record that the person of this session has just proved who it is."""
        self._write(update(operator_sessions).where(operator_sessions.c.id == id).values(confirmed_at=now()))

    def of(self, operator_id: int, idle: timedelta = NEVER) -> list[OperatorSession]:
        """Sessions of an operator, the most recently used first."""
        theirs = (
            select(*SESSION)
            .where(operator_sessions.c.operator_id == operator_id, *_open(idle))
            .order_by(operator_sessions.c.seen_at.desc())
            .limit(SHOWN)
        )
        return [OperatorSession(*row) for row in self._rows(theirs)]

    def counts(self, idle: timedelta = NEVER) -> dict[int, tuple[int, datetime]]:
        """Operator -> (number of sessions, last use)."""
        theirs = operator_sessions.c
        counted = select(theirs.operator_id, func.count(), func.max(theirs.seen_at)).group_by(
            theirs.operator_id
        )
        rows = self._rows(counted.where(*_open(idle)))
        return {operator_id: (count, latest) for operator_id, count, latest in rows}

    def end(self, secret: str) -> None:
        """End the session with this secret. An unknown secret is no error."""
        self._write(delete(operator_sessions).where(operator_sessions.c.hash == hash_of(secret)))

    def end_one(self, operator_id: int, id: str) -> bool:
        """Ends a session of this operator; False when there is none with this id."""
        ours = (operator_sessions.c.operator_id == operator_id, operator_sessions.c.id == id)
        return self._write(delete(operator_sessions).where(*ours)) == 1

    def end_all(self, operator_id: int, but: str = "") -> int:
        """Ends all sessions of an operator, but the one with this id; returns how many."""
        ours = (operator_sessions.c.operator_id == operator_id, operator_sessions.c.id != but)
        return self._write(delete(operator_sessions).where(*ours))


def _open(idle: timedelta) -> tuple[ColumnElement[bool], ...]:
    """Sessions that neither have expired nor were left unused for `idle`."""
    at = now()
    return operator_sessions.c.ends_at > at, operator_sessions.c.seen_at > at - idle


class LinkKind(StrEnum):
    """Kinds of links."""

    INVITE = "invite"
    RESET = "reset"


VALID = {LinkKind.INVITE: timedelta(days=7), LinkKind.RESET: timedelta(hours=24)}


@dataclass(frozen=True, slots=True)
class OperatorLink:
    """One link; only its recipient knows the secret in it."""

    id: str
    kind: LinkKind
    email: str
    role: Role
    operator_id: int | None
    """The operator whose password it resets; None for an invitation."""
    made_by: str
    made_at: datetime
    ends_at: datetime
    sites: SiteSet = None
    """The sites that the invited person will see."""


class LinkStore(Store):
    """At most one invitation for each address, and one password reset for each operator."""

    def invite(self, email: str, role: Role, made_by: str, sites: SiteSet = None) -> str:
        """Create an invitation and return its secret; an earlier one for this address stops working."""
        email = _address(email)
        before = operator_links.c.email == email
        row = {"email": email, "role": role.value, "operator_id": None, "sites": _listed(sites)}
        return self._add(LinkKind.INVITE, before, made_by=made_by, **row)

    def reset(self, operator_id: int, email: str, role: Role, made_by: str) -> str:
        """Create a password reset and return its secret; an earlier one stops working."""
        before = operator_links.c.operator_id == operator_id
        row = {"email": email, "role": role.value, "operator_id": operator_id, "sites": None}
        return self._add(LinkKind.RESET, before, made_by=made_by, **row)

    def find(self, secret: str) -> OperatorLink | None:
        """The link with this secret; None if it was used, has expired or never existed."""
        found = self._load((operator_links.c.hash == hash_of(secret), operator_links.c.ends_at > now()))
        return found[0] if found else None

    def use(self, secret: str) -> OperatorLink | None:
        """Use the link with this secret up and return it: of two requests at once, one gets it."""
        found = self.find(secret)
        used = self._write(delete(operator_links).where(operator_links.c.hash == hash_of(secret)))
        return found if used else None

    def accept(self, email: str) -> OperatorLink | None:
        """Use the invitation of a verified address up and return it; None if there is none."""
        theirs = (operator_links.c.kind == LinkKind.INVITE.value, operator_links.c.email == _address(email))
        found = self._load((*theirs, operator_links.c.ends_at > now()))
        used = self._write(delete(operator_links).where(*theirs))
        return found[0] if found and used else None

    def open(self) -> list[OperatorLink]:
        """Links that can still be used, the newest first."""
        return self._load((operator_links.c.ends_at > now(),))

    def withdraw(self, id: str) -> OperatorLink | None:
        """Revoke a link; return it, or None if there is none with this id."""
        found = self._load((operator_links.c.id == id,))
        self._write(delete(operator_links).where(operator_links.c.id == id))
        return found[0] if found else None

    def _add(self, kind: LinkKind, before: ColumnElement[bool], **values: Any) -> str:
        secret, at = secrets.token_urlsafe(32), now()
        row = {
            "hash": hash_of(secret),
            "id": uuid4().hex,
            "kind": kind.value,
            "made_at": at,
            "ends_at": at + VALID[kind],
            **values,
        }
        with self._db.begin() as connection:
            connection.execute(delete(operator_links).where(operator_links.c.ends_at <= at))
            connection.execute(delete(operator_links).where(operator_links.c.kind == kind.value, before))
            connection.execute(insert(operator_links).values(row))
        return secret

    def _load(self, which: tuple[ColumnElement[bool], ...]) -> list[OperatorLink]:
        wanted = (
            select(*columns_of(OperatorLink, operator_links))
            .where(*which)
            .order_by(operator_links.c.made_at.desc())
            .limit(200)
        )
        found = [OperatorLink(*row) for row in self._rows(wanted)]
        return [
            replace(one, kind=LinkKind(one.kind), role=Role(one.role), sites=_site_set(one.sites))
            for one in found
        ]
