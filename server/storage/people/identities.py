"""Accounts at the provider of single sign-on, each linked to one operator."""

from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError

from server.storage.columns import now
from server.storage.schema.people import operator_identities
from server.storage.store import Store

THEIRS = operator_identities.c


class IdentityStore(Store):
    """Links by issuer and subject, which a provider never gives to anybody else."""

    def use(self, issuer: str, subject: str) -> int | None:
        """Note a sign-in; return the operator's number, or None if nobody is linked."""
        this = (THEIRS.issuer == issuer, THEIRS.subject == subject)
        self._write(update(operator_identities).where(*this).values(used_at=now()))
        row = self._row(select(THEIRS.operator_id).where(*this))
        return None if row is None else int(row[0])

    def link(self, issuer: str, subject: str, operator_id: int) -> bool:
        """Link an operator; False if another account of this provider is linked already."""
        row = {"issuer": issuer, "subject": subject, "operator_id": operator_id}
        ours = (THEIRS.issuer == issuer, THEIRS.operator_id == operator_id)
        try:
            with self._db.begin() as connection:
                if connection.execute(select(THEIRS.subject).where(*ours)).first():
                    return False
                connection.execute(insert(operator_identities).values(made_at=now(), used_at=now(), **row))
        except IntegrityError:
            return False
        return True
