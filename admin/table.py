"""The pages of the dashboard. A new one is a module with its `page`, a template and a row here."""

from admin.content.content import page as content
from admin.content.page import page as content_page
from admin.content.search import page as content_search
from admin.content.sources import page as sources
from admin.conversations.conversation import page as conversation
from admin.conversations.conversations import page as conversations
from admin.conversations.export import page as conversation_export
from admin.conversations.messages import page as messages
from admin.crawls.crawl import control_page as crawl_control
from admin.crawls.crawl import page as crawl
from admin.crawls.crawls import page as crawls
from admin.crawls.difference import page as crawl_difference
from admin.failures import page as missing
from admin.gaps.curated import files_page as curated_files
from admin.gaps.curated import page as curated
from admin.gaps.gaps import gap_page as gap
from admin.gaps.gaps import page as gaps
from admin.overview.health import page as health
from admin.overview.overview import page as overview
from admin.page import Page
from admin.people.account import page as account
from admin.people.api_keys import page as api_keys
from admin.people.audit_log import page as audit_log
from admin.people.login import page as login
from admin.people.people import page as people
from admin.people.welcome import page as welcome
from admin.playground.playground import page as playground
from admin.quality.case import page as quality_case
from admin.quality.compare import page as quality_answers
from admin.quality.gate import page as quality_gate
from admin.quality.quality import page as quality
from admin.quality.quality import site_page as quality_site
from admin.quality.run import page as quality_run
from admin.quality.run_new import page as quality_run_new
from admin.quality.testsets import page as quality_testset
from admin.settings.backup import page as backup
from admin.settings.models import page as settings_models
from admin.settings.settings import budgets_page as settings_budgets
from admin.settings.settings import mail_page as settings_mail
from admin.settings.settings import page as settings
from admin.settings.settings import privacy_page as settings_privacy
from admin.settings.webhooks import page as webhooks
from admin.sites.embed_check import page as embed_check
from admin.sites.new import page as site_new
from admin.sites.scope import dry_run_page as dry_run
from admin.sites.scope import page as scope
from admin.sites.settings import page as site_settings
from admin.sites.site import page as site
from admin.sites.site import removal_page as site_removal
from admin.sites.sites import page as sites
from admin.sites.widget import page as widget

PAGES: tuple[Page, ...] = (
    overview,
    conversations,
    conversation,
    conversation_export,
    messages,
    gaps,
    gap,
    sites,
    site_new,
    dry_run,
    site,
    crawls,
    crawl,
    crawl_control,
    crawl_difference,
    content,
    content_page,
    content_search,
    sources,
    curated,
    curated_files,
    scope,
    widget,
    embed_check,
    site_settings,
    site_removal,
    playground,
    quality,
    quality_answers,
    quality_case,
    quality_gate,
    quality_run,
    quality_run_new,
    quality_site,
    quality_testset,
    health,
    account,
    settings,
    settings_models,
    settings_budgets,
    settings_privacy,
    settings_mail,
    webhooks,
    api_keys,
    people,
    audit_log,
    backup,
    welcome,
    login,
    missing,
)
