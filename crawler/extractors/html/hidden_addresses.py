"""E-mail addresses that Cloudflare hides from programs that collect them. A script shows them to visitors.

Cloudflare does this on many websites without being asked. The page then says "[email protected]".
"""

import re
from html import escape

SIGNS = ("data-cfemail", "/cdn-cgi/l/email-protection#")
_SHOWN = re.compile(
    r"""<(a|span)\b[^<>]*\bdata-cfemail=["']?([0-9a-f]{4,1000})["']?[^<>]*>[^<]*</\1>""", re.IGNORECASE
)
_LINKED = re.compile(
    r"""(?:https?://[^"'<>/\s]{1,255})?/cdn-cgi/l/email-protection#([0-9a-f]{4,1000})""", re.IGNORECASE
)


def with_addresses(markup: str) -> str:
    """Return the markup with the addresses as visitors see them."""
    if not any(sign in markup for sign in SIGNS):
        return markup
    return _LINKED.sub(_link, _SHOWN.sub(_text, markup))


def _text(found: re.Match[str]) -> str:
    address = escape(_revealed(found[2]))
    if not address:
        return found[0]
    return f'<a href="mailto:{address}">{address}</a>' if found[1].lower() == "a" else address


def _link(found: re.Match[str]) -> str:
    address = _revealed(found[1])
    return f"mailto:{escape(address)}" if address else found[0]


def _revealed(code: str) -> str:
    """Return the address: each byte is combined with the first one. Empty for anything else."""
    if len(code) % 2:
        return ""
    key, *hidden = bytes.fromhex(code)
    address = bytes(byte ^ key for byte in hidden).decode("utf-8", "replace")
    return address if "@" in address and address.isprintable() else ""
