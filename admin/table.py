"""The pages of the dashboard. A new one is a module with its `page`, a template and a row here."""

from admin import failures
from admin.content import content, search, sources
from admin.content import page as content_page
from admin.conversations import conversation, conversations, export, messages
from admin.crawls import crawl, crawls, difference
from admin.gaps import curated, gaps
from admin.overview import health, overview
from admin.page import Page
from admin.people import account, api_keys, audit_log, login, people, welcome
from admin.playground import playground
from admin.quality import case, compare, gate, quality, run, run_new, testsets
from admin.settings import backup, models, webhooks
from admin.settings import settings as installation_settings
from admin.sites import embed_check, new, scope, site, sites, widget
from admin.sites import settings as site_settings

PAGES: tuple[Page, ...] = (
    overview.page,
    conversations.page,
    conversation.page,
    export.page,
    messages.page,
    gaps.page,
    gaps.gap_page,
    sites.page,
    new.page,
    scope.dry_run_page,
    site.page,
    crawls.page,
    crawl.page,
    crawl.control_page,
    difference.page,
    content.page,
    content_page.page,
    search.page,
    sources.page,
    curated.page,
    curated.files_page,
    scope.page,
    widget.page,
    embed_check.page,
    site_settings.page,
    site.removal_page,
    playground.page,
    quality.page,
    compare.page,
    case.page,
    gate.page,
    run.page,
    run_new.page,
    quality.site_page,
    testsets.page,
    health.page,
    account.page,
    installation_settings.page,
    models.page,
    installation_settings.budgets_page,
    installation_settings.privacy_page,
    installation_settings.mail_page,
    webhooks.page,
    api_keys.page,
    people.page,
    audit_log.page,
    backup.page,
    welcome.page,
    login.page,
    failures.page,
)
