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
    messages,
    missing,
    overview,
    scope,
    setup,
    site,
    site_new,
    sites,
    sources,
    widget,
)

PAGES: tuple[Page, ...] = (
    overview.page,
    sites.page,
    site_new.page,
    site.page,
    scope.page,
    sources.page,
    curated.page,
    widget.page,
    crawl.page,
    crawl_control.page,
    content.page,
    conversations.page,
    conversation.page,
    messages.page,
    health.page,
    setup.page,
    login.page,
    missing.page,
)
