"""The table of pages. A new one is a module, a template and a row. Those with an entry are in the menu."""

from admin.page import Page
from admin.pages import (
    content,
    conversation,
    conversations,
    crawl,
    crawl_control,
    curated,
    health,
    login,
    missing,
    overview,
    scope,
    setup,
    site,
    site_new,
    sites,
    sources,
)

PAGES: tuple[Page, ...] = (
    overview.page,
    sites.page,
    site_new.page,
    site.page,
    scope.page,
    sources.page,
    curated.page,
    crawl.page,
    crawl_control.page,
    content.page,
    conversations.page,
    conversation.page,
    health.page,
    setup.page,
    login.page,
    missing.page,
)
