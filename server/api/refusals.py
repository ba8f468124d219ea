"""Failed sign-ins and refused access: a log line each, which fail2ban can read, and an audit log entry.

The line holds the address and a reason of ours, and nothing that the caller wrote.
"""

import logging

from flask import request

from server.api.access import people_stores, shared
from server.api.caller import network_address

log = logging.getLogger("docent.access")

KEPT = "30/hour"
KEPT_IN_ALL = "1000/hour"
"""How many entries strangers can add to the audit log, from one network and in all. The log has all."""
STRANGER = "unknown"


def refused_access(reason: str, email: str = "", **details: str) -> None:
    """Record a refused request. `reason` is a constant; `email` is only kept if it has an account. Only the
    audit log has the `details`."""
    log.warning("refused %s %s", request.remote_addr or "unknown", reason)
    limits = shared().limits
    if limits.hit(KEPT, f"refused:{network_address()}") or limits.hit(KEPT_IN_ALL, "refused"):
        return
    operator = people_stores().operators.find(email) if email else None
    noted = {"reason": reason, "address": request.remote_addr or "", **details}
    people_stores().audit.add(operator.email if operator else STRANGER, "was refused", "", noted)
