"""The tag that puts the widget on a site's pages."""

from __future__ import annotations

from dataclasses import dataclass

from flask import request
from markupsafe import escape

from admin.addresses import is_private
from server.api.access import configuration
from server.domain.site import Site


@dataclass(frozen=True, slots=True)
class Snippet:
    """What an operator copies, and where to try it first."""

    tag: str
    demo: str
    reaches_only_here: bool
    """Whether visitors elsewhere cannot load it: PUBLIC_URL is missing."""


def snippet_of(site: Site) -> Snippet:
    """Without PUBLIC_URL the address by which the operator came is the best guess."""
    base = configuration().settings.serving.public_url or request.host_url.rstrip("/")
    tag = f'<script src="{escape(base)}/widget/embed.js" data-site="{escape(site.id)}" async></script>'
    return Snippet(tag, f"{base}/demo/{site.id}", is_private(base))
