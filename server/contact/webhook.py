"""Signed POST requests to the operator's own servers: visitors' messages, and events."""

import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

from urllib3.exceptions import HTTPError
from urllib3.util import Timeout

from crawler.errors import FetchError
from crawler.fetching.addresses import AddressGuard
from crawler.fetching.connections import Deadlines, guarded_pools
from server.contact.channel import ContactMessage, NotDelivered
from server.domain.answer import Message
from server.domain.events import Event

SIGNATURE = "X-Docent-Signature"


def post(url: str, body: bytes, headers: Mapping[str, str], guard: AddressGuard, timeout_s: float) -> str:
    """Post `body` to an address that `guard` permits; return what to note. Redirects are not followed. Raises
    NotDelivered unless the answer is a success."""
    host, deadlines = urlsplit(url).hostname or "", Deadlines()
    pools = guarded_pools(guard, deadlines, num_pools=1)
    due = time.monotonic() + timeout_s
    try:
        with deadlines.within(timeout_s):
            answer = pools.request(
                "POST", url, body=body, headers=dict(headers), redirect=False, retries=False,
                timeout=Timeout(timeout_s), preload_content=False,
            )  # fmt: skip
            status, location = answer.status, answer.headers.get("location", "")
            answer.close()
    except FetchError as error:
        raise NotDelivered(str(error)) from error
    except (HTTPError, OSError, ValueError) as error:
        # What was cut off looks like a connection that the other side closed.
        is_late = time.monotonic() >= due
        said = f"did not answer within {timeout_s:g} s" if is_late else _said(error)
        raise NotDelivered(f"{host} {said}") from error
    finally:
        pools.clear()
        deadlines.close()
    if 300 <= status < 400:
        raise NotDelivered(
            f"{host} answered {status}, which leads to {location[:200] or 'nowhere'}: redirects are "
            "not followed, so set the final address"
        )
    if not 200 <= status < 300:
        raise NotDelivered(f"{host} answered {status}")
    return f"{host} answered {status}"


def body_of(parcel: ContactMessage) -> bytes:
    """The JSON that is posted of a visitor's message."""
    request = parcel.request
    value = {
        "type": "contact_request",
        "id": request.id,
        "reference": request.reference,
        "site": {"id": parcel.site.id, "title": parcel.title},
        "at": request.at.isoformat(),
        "email": request.email,
        "message": request.message,
        "dashboard": parcel.page,
        "conversation": {
            "id": request.conversation_id,
            "left_out": parcel.left_out,
            "messages": [_turn(message) for message in parcel.messages],
        }
        if request.conversation_id
        else None,
    }
    return json.dumps(value, ensure_ascii=False).encode("utf-8")


def event_body(event: Event, base_url: str) -> bytes:
    """The JSON that is posted of an event."""
    value = {
        "type": event.kind.value,
        "id": event.id,
        "at": event.at.isoformat(),
        "site": event.site_id or None,
        "data": dict(event.data),
        "dashboard": f"{base_url}/admin/",
    }
    return json.dumps(value, ensure_ascii=False).encode("utf-8")


def headers_of(body: bytes, secret: str, id: str, at: float | None = None) -> dict[str, str]:
    """What goes with a body: the type, the id of the request, the signature of this moment."""
    return {
        "Content-Type": "application/json; charset=utf-8",
        "User-Agent": "Docent",
        "X-Docent-Id": id,
        SIGNATURE: signature(body, secret, int(time.time() if at is None else at)),
    }


def signature(body: bytes, secret: str, at: int) -> str:
    """`t=<unix>,v1=<hex>`, HMAC-SHA256 of "t.body". Raises NotDelivered when there is no secret."""
    if not secret:
        raise NotDelivered("the webhook has no secret to sign with: set one on the site's page")
    signed = hmac.new(secret.encode("utf-8"), b"%d.%b" % (at, body), hashlib.sha256).hexdigest()
    return f"t={at},v1={signed}"


def _turn(message: Message) -> dict[str, object]:
    answer = message.answer
    return {
        "at": message.asked_at.isoformat(),
        "question": message.question,
        "outcome": answer.outcome.value,
        "answer": answer.text,
        "citations": [
            {"number": one.number, "title": one.title, "url": one.url, "link": one.link, "quote": one.quote}
            for one in answer.citations
        ],
    }


def _said(error: Exception) -> str:
    text = " ".join(str(error).split())
    if "refused" in text.lower():
        return "cannot be reached (connection refused)"
    return f"cannot be reached: {text[:300] or type(error).__name__}"
