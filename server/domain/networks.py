"""Social networks, and which addresses are profiles there."""

import re
from urllib.parse import quote, urlsplit

_HOSTS = {
    "facebook.com": "Facebook", "instagram.com": "Instagram", "twitter.com": "Twitter", "x.com": "X",
    "youtube.com": "YouTube", "linkedin.com": "LinkedIn", "github.com": "GitHub", "tiktok.com": "TikTok",
    "threads.net": "Threads", "threads.com": "Threads", "bsky.app": "Bluesky", "pinterest.com": "Pinterest",
    "vk.com": "VK", "weibo.com": "Weibo", "discord.gg": "Discord", "discord.com": "Discord",
    "t.me": "Telegram", "flickr.com": "Flickr", "vimeo.com": "Vimeo", "twitch.tv": "Twitch",
    "mastodon.social": "Mastodon", "fosstodon.org": "Mastodon", "medium.com": "", "substack.com": "",
    "unsplash.com": "", "rumble.com": "", "odysee.com": "", "linktr.ee": "",
}  # fmt: skip
"""Name of the network of each host. "" marks other websites whose paths also begin with @."""
_OTHER_NAMES = {"x": "twitter", "insta": "instagram", "ig": "instagram", "fb": "facebook", "yt": "youtube"}
_NO_PROFILE = re.compile(  # of the host, the path and the query
    r"/(?:(?:sharer?|intent|hashtag|watch|p|status|events?|groups?|playlist|embed|orgs|search|home|reels?|posts?"
    r"|shorts|photos?|privacy|privacy-policy|legal|polic(?:y|ies)|feed|explore|channels|pin|tv|tags?|permalink"
    r"|story)(?:\.(?:php|html?))?|wall-?\d+(?:_\d+)?)(?=[/?]|$)|^[^/]+/(?:live|videos?)(?=[/?]|$)|[?&](?:u|url|text)="
    r"|^(?:vimeo\.com/(?:showcase|album)|weibo\.com/\d+(?!/(?:profile|info|home)(?:[/?]|$)))/\w"
    r"|^(?:vimeo\.com|(?:t\.me|flickr\.com)/[^/]+|[^/]+/@[^/]+)/\d+(?=[/?]|$)"
)
_COUNTRY = re.compile(r"^(?:www|m|mobile|[a-z]{2}(?:-[a-z]{2})?)\.(?=\w+\.\w+$)")
_WEB = re.compile(r"https?://", re.IGNORECASE)


def network_of(address: str) -> str:
    """Return the name of the social network that a profile is on; empty for other addresses."""
    parts = urlsplit(web_address(address))
    path = parts.path.strip("/")
    host = _COUNTRY.sub("", parts.hostname or "")
    own = path.removeprefix("photos/") if host == "flickr.com" else path
    if not own or own.count("/") > 1 or _NO_PROFILE.search(f"{host}/{own}?{parts.query}"):
        return ""
    if host == "github.com" and "/" in path:
        return ""  # that of a program, such as the theme of a site
    if host == "discord.com" and not path.startswith("invite/"):
        return ""
    return _HOSTS.get(host, "Mastodon" if path.startswith("@") and "/" not in path else "")


def network_key(name: str) -> str:
    """Return what the names of one network have in common: "X" and "Twitter" are the same."""
    return _OTHER_NAMES.get(name.lower(), name.lower())


def web_address(address: str) -> str:
    """Return an address as links have it: with http or https, and without signs that end a link early."""
    scheme = _WEB.match(address)
    rest = address[scheme.end() :] if scheme else address
    begins = scheme[0].lower() if scheme else "https://"
    return begins + quote(rest, safe="/:?#@!$&'()*+,;=%~", errors="replace")
