"""The page that a visitor asks from, as far as the site allows that it is known."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from server.domain.addresses import origin_of
from server.domain.look import one_line
from server.domain.site import Site
from server.domain.visiting import PageUse

URL_CHARS, TITLE_CHARS = 2000, 200


@dataclass(frozen=True, slots=True)
class VisitorPage:
    """What the visitor's browser said: never a fact, never an instruction."""

    url: str
    """Of the site, without what stands behind "#"."""
    title: str = ""
    selection: str = ""
    """The words that are marked."""

    @classmethod
    def allowed(
        cls, site: Site, url: str, title: str, selection: str, selection_chars: int
    ) -> VisitorPage | None:
        """As much of it as the site's options allow; None for nothing, and for a page of another site."""
        use = PageUse.of(site.options)
        if not use.page or len(url) > URL_CHARS:
            return None
        try:
            parts = urlsplit(one_line(url))
            own = origin_of(url) in {origin_of(origin) for origin in site.allowed_origins}
        except ValueError:  # a port that is no number, a broken IPv6 address
            return None
        if not own or parts.username or parts.password:
            return None
        marked = one_line(selection)[:selection_chars] if use.selection else ""
        return cls(urlunsplit(parts._replace(fragment="")), one_line(title)[:TITLE_CHARS], marked)

    @property
    def shown_url(self) -> str:
        """For the operator: without the query, in which sites put names, sessions and what was searched."""
        return urlunsplit(urlsplit(self.url)._replace(query=""))
