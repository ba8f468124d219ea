"""Which addresses are profiles on social networks."""

import pytest

from server.domain.networks import network_of, web_address


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("https://www.facebook.com/mill/", "Facebook"),
        ("https://m.facebook.com/mill", "Facebook"),
        ("https://de.linkedin.com/company/mill", "LinkedIn"),
        ("www.instagram.com/mill", "Instagram"),
        ("HTTPS://X.com/mill", "X"),
        ("https://www.threads.com/@mill", "Threads"),
        ("https://discord.com/invite/abc", "Discord"),
        ("https://chaos.example/@mill", "Mastodon"),
        ("https://github.com/mill", "GitHub"),
        ("https://github.com/somebody/theme", ""),
        ("https://discord.com/channels/1", ""),
        ("https://medium.com/@mill", ""),
        ("https://unsplash.com/@jane", ""),
        ("https://www.flickr.com/photos/mill", "Flickr"),
        ("https://www.linkedin.com/company/legal-aid-society", "LinkedIn"),
        ("https://www.facebook.com/photo.club.leeds", "Facebook"),
        ("https://www.linkedin.com/company/1234567/", "LinkedIn"),
        ("https://weibo.com/u/1234567890", "Weibo"),
        ("https://www.facebook.com/61550123456789", "Facebook"),
        ("https://discord.gg/123456", "Discord"),
        ("https://www.youtube.com/@mill/videos", "YouTube"),
        ("https://www.youtube.com/@mill/live", "YouTube"),
        ("https://www.youtube.com/live/abc", ""),
        ("https://www.youtube.com/live", ""),
        ("https://vimeo.com/showcase/1234567", ""),
        ("https://weibo.com/1234567890/KxYzAbcDe", ""),
        ("https://weibo.com/1234567890/4567890123456789", ""),
        ("https://weibo.com/1234567890/profile", "Weibo"),
        ("https://www.facebook.com/policy.php", ""),
        ("https://www.facebook.com/sharer.php?display=popup", ""),
        ("https://twitter.com/share.html", ""),
        ("https://mastodon.social/@mill/123", ""),
        ("https://www.flickr.com/photos/mill/123", ""),
        ("https://vimeo.com/123456", ""),
        ("https://t.me/mill/123", ""),
        ("https://vk.com/wall-1_2", ""),
        ("https://www.facebook.com/permalink.php?id=1", ""),
        ("https://www.instagram.com/reel/abc", ""),
        ("https://www.linkedin.com/posts/abc", ""),
        ("https://youtube.com/shorts/abc", ""),
        ("https://facebook.com/privacy/explanation", ""),
        ("https://twitter.com/share?url=x", ""),
        ("https://mill.example/news", ""),
        ("javascript://x.com/a", ""),
    ],
)
def test_a_profile_is_known_by_its_address(address, network):
    assert network_of(address) == network


def test_an_address_has_only_signs_that_a_link_may_have():
    assert web_address("HTTPS://vk.com/муз ей") == "https://vk.com/%D0%BC%D1%83%D0%B7%20%D0%B5%D0%B9"
    assert web_address("x.com/\ud800") == "https://x.com/?", "half a character"
    assert network_of("https://[") == network_of("") == ""
    assert web_address('x.com/a(>)[b]"c%20') == "https://x.com/a(%3E)%5Bb%5D%22c%20"
