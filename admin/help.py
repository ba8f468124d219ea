"""The page of the documentation that each page of the dashboard links to."""

from flask import request

from admin.page import Page

HELP = {
    "overview": "conversations#is-it-working",
    "start": "dashboard#what-are-the-first-steps",
    "conversations": "conversations#how-do-i-find-a-conversation",
    "conversation": "conversations#what-can-i-do-with-a-conversation",
    "messages": "contact",
    "gaps": "gaps",
    "sites": "dashboard#how-do-i-add-a-site",
    "dry_run": "dashboard#how-do-i-see-what-would-be-read-before-i-add-a-site",
    "site": "dashboard",
    "site_address": "dashboard#how-do-i-change-the-address-of-a-site",
    "site_export": "operations#how-do-i-move-one-site-to-another-installation",
    "site_import": "operations#how-do-i-move-one-site-to-another-installation",
    "site_removal": "dashboard#how-do-i-remove-a-site",
    "crawls": "crawling#how-do-i-see-what-a-crawl-did-and-what-changed",
    "crawl": "crawling#why-is-a-page-missing",
    "content": "content",
    "content_page": "content#how-do-i-correct-a-page",
    "content_search": "content#what-would-a-visitors-question-find",
    "sources": "crawling#can-docent-answer-from-files-that-are-not-on-my-website",
    "facts": "crawling#what-does-docent-note-about-my-site",
    "curated": "answers#how-do-i-write-an-answer-myself",
    "curated_import": "answers#how-do-i-move-my-own-answers-elsewhere",
    "scope": "crawling#can-i-crawl-only-a-part-of-my-site",
    "widget": "widget-settings",
    "embed_check": "dashboard#how-do-i-check-that-the-chat-is-installed",
    "site_settings": "dashboard#what-are-the-settings-of-a-site",
    "playground": "playground",
    "quality": "quality#how-do-i-check-my-site",
    "quality_compare": "quality#how-do-i-see-what-changed-between-two-runs",
    "quality_gate": "quality#what-does-the-quality-gate-do",
    "quality_run": "quality#what-does-the-report-of-a-run-say",
    "quality_testset": "quality#what-is-a-test-set",
    "health": "operations#how-do-i-check-that-docent-is-healthy",
    "account": "people#how-do-i-turn-the-second-factor-on",
    "settings": "people#how-do-i-change-a-setting-without-a-restart",
    "settings_models": "models",
    "settings_answers": "answers",
    "settings_crawling": "crawling#can-docent-crawl-a-private-or-local-site",
    "settings_budgets": "models#how-do-i-limit-the-cost-of-a-model",
    "settings_privacy": "people#how-long-are-conversations-kept",
    "settings_mail": "contact#how-do-i-connect-a-mail-server",
    "settings_signin": "people#how-do-i-require-a-second-factor-of-everybody",
    "settings_sign_on": "people#how-do-i-set-up-single-sign-on",
    "webhooks": "people#how-do-my-other-systems-learn-what-happens",
    "api_keys": "people#how-do-i-use-the-api-from-another-server",
    "people": "people",
    "audit_log": "people#what-does-the-audit-log-record",
    "backup": "operations#how-do-i-make-a-backup",
}
"""Endpoint of a page -> page and heading of the documentation. Other pages have that of the page above."""


def help_address(page: Page | None) -> str:
    """Address of the help for a page of the dashboard, on this server."""
    found = next(
        (HELP[one.endpoint] for one in (page.line if page else ()) if one.endpoint in HELP), "dashboard"
    )
    name, _, anchor = found.partition("#")
    return f"{request.script_root}/docs/{name}.html" + (f"#{anchor}" if anchor else "")
