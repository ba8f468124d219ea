"""Passkeys of operators: what each of them signs with, and when it was used."""

from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import uuid4

from sqlalchemy import delete, exists, insert, or_, select, update

from server.storage.columns import now
from server.storage.errors import PasskeyExists
from server.storage.schema.people import operators, passkeys, recovery_codes
from server.storage.store import Store, columns_of, raising


@dataclass(frozen=True, slots=True)
class Passkey:
    """One passkey. Bytes are written in base64url, as browsers send them."""

    id: str
    operator_id: int
    credential: str
    """Its id at the device that keeps it."""
    handle: str
    """The account as the device knows it: random, and the same for every passkey of an operator."""
    public_key: str
    name: str
    sign_count: int
    """Signatures that the device reported last; 0 where it does not count them."""
    made_at: datetime
    used_at: datetime | None


PASSKEY = columns_of(Passkey, passkeys)


class PasskeyStore(Store):
    """Passkeys by operator."""

    def of(self, operator_id: int) -> list[Passkey]:
        """Passkeys of an operator, the oldest first."""
        theirs = select(*PASSKEY).where(passkeys.c.operator_id == operator_id)
        return [Passkey(*row) for row in self._rows(theirs.order_by(passkeys.c.made_at, passkeys.c.id))]

    def find(self, credential: str) -> Passkey | None:
        """The passkey with this id at its device, or None."""
        row = self._row(select(*PASSKEY).where(passkeys.c.credential == credential))
        return None if row is None else Passkey(*row)

    def add(self, operator_id: int, credential: str, handle: str, public_key: str, name: str) -> None:
        """Store a passkey that has signed nothing yet. Raises PasskeyExists."""
        made = Passkey(uuid4().hex, operator_id, credential, handle, public_key, name, 0, now(), None)
        with raising(PasskeyExists("this passkey belongs to an account already")):
            self._write(insert(passkeys), asdict(made))

    def use(self, id: str, sign_count: int) -> bool:
        """Note a use. False if the count is not above the one before, as that of a copied passkey."""
        is_later = or_(passkeys.c.sign_count < sign_count, (passkeys.c.sign_count == 0) & (sign_count == 0))
        used = update(passkeys).where(passkeys.c.id == id, is_later)
        return self._write(used.values(sign_count=sign_count, used_at=now())) == 1

    def remove(self, operator_id: int, id: str) -> bool:
        """Remove a passkey of this operator; False when there is none with this id. Recovery codes go with
        the last proof that they stand in for."""
        ours = (passkeys.c.operator_id == operator_id, passkeys.c.id == id)
        other = exists().where(passkeys.c.operator_id == operator_id)
        app = exists().where(operators.c.id == operator_id, operators.c.totp_secret != "")
        with self._db.begin() as connection:
            removed = connection.execute(delete(passkeys).where(*ours)).rowcount
            codes = delete(recovery_codes).where(recovery_codes.c.operator_id == operator_id)
            connection.execute(codes.where(~other, ~app))
        return removed == 1
