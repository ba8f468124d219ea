"""The pages of the dashboard. A new one is a module with its `page`, a template and a row here."""

from admin import replies
from admin.content import content, facts, sources
from admin.content import page as content_page
from admin.conversations import conversations, messages
from admin.crawls import crawl, crawls
from admin.gaps import curated, gaps
from admin.overview import health, overview
from admin.page import Page
from admin.people import account, login, passkey_pages, people, recent, sign_on
from admin.playground import playground
from admin.quality import case, compare, quality, run, testsets
from admin.settings import backup, models, webhooks
from admin.settings import settings as installation_settings
from admin.sites import embed_check, moving, scope, site, sites, widget
from admin.sites import settings as site_settings
from admin.start import model, questions, start

PAGES: tuple[Page, ...] = (
    overview.page,
    conversations.page,
    messages.conversation_page,
    conversations.export_page,
    messages.page,
    gaps.page,
    gaps.gap_page,
    sites.page,
    sites.new_page,
    scope.dry_run_page,
    start.page,
    questions.page,
    model.page,
    site.page,
    site.address_page,
    crawls.page,
    crawl.page,
    crawl.control_page,
    crawl.difference_page,
    content.page,
    content_page.page,
    content.search_page,
    sources.page,
    facts.page,
    curated.page,
    curated.files_page,
    scope.page,
    widget.page,
    embed_check.page,
    site_settings.page,
    site.removal_page,
    moving.export_page,
    moving.import_page,
    playground.page,
    quality.page,
    compare.page,
    case.page,
    quality.gate_page,
    run.page,
    run.new_page,
    quality.site_page,
    testsets.page,
    health.page,
    account.page,
    passkey_pages.page,
    passkey_pages.confirm_page,
    recent.page,
    installation_settings.page,
    installation_settings.answers.page,
    models.page,
    installation_settings.crawls.page,
    people.page,
    installation_settings.signin.page,
    installation_settings.sign_on.page,
    people.audit_page,
    installation_settings.privacy.page,
    installation_settings.budgets.page,
    installation_settings.mail.page,
    webhooks.page,
    people.api_keys_page,
    backup.page,
    login.welcome_page,
    login.page,
    passkey_pages.login_page,
    sign_on.page,
    replies.page,
)
