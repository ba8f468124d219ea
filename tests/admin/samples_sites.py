"""A dry run that has ended, settings that were chosen, and the widget seen at work."""

import json
from dataclasses import asdict, replace

from server.jobs.dry_run import DryRun

RUN = "sample-dry-run"


def fill(runtime):
    run = DryRun(
        RUN,
        ("https://lantern.example/",),
        active=False,
        site_id="lantern",
        surveys=[
            {
                "url": "https://lantern.example/",
                "robots": {
                    "rules": ["Disallow: /cart", "Disallow: /account", "Allow: /account/help"],
                    "delay_s": 1.0,
                    "sitemaps": ["https://lantern.example/sitemap.xml"],
                    "problem": "",
                },
                "listed": 320,
                "problems": ["https://lantern.example/old.xml: status 404"],
            }
        ],
        pages=[
            {"url": "https://lantern.example/", "title": "Lantern Shop", "language": "en", "words": 240},
            {"url": "https://lantern.example/delivery", "title": "Delivery", "language": "en", "words": 1232},
            {"url": "https://lantern.example/hilfe", "title": "", "language": "", "words": 12},
        ],
        others=[
            {"url": "https://lantern.example/cart", "state": "disallowed", "reason": 'robots.txt line 2: "Disallow: /cart"'},
            {"url": "https://lantern.example/a-very-long-address/that-somebody-made/without-a-single-space-in-it.zip", "state": "unsupported",
             "reason": "application/zip is not read"},
        ],
        counts={"fetched": 3, "disallowed": 1, "unsupported": 1, "over_limit": 57},
        found=62,
        seconds=4.2,
    )  # fmt: skip
    runtime.shared.cache.set(f"dry-run:{RUN}", json.dumps(asdict(run)), 3600)
    runtime.shared.sightings.note("lantern", "https://lantern.example")
    site = runtime.stores.sites.get("lantern")
    wishes = {"tone": "friendly", "instructions": "Call our customers members.", "daily_tokens": 50_000}
    runtime.stores.sites.update(replace(site, options={**site.options, **wishes}))
