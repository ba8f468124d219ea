"""The table of pages. A new one is a module, a template and a row. Those with an entry are in the menu."""

from admin.page import Page
from admin.pages import (
    content,
    conversation,
    conversations,
    crawl,
    health,
    login,
    missing,
    overview,
    setup,
    site,
    site_new,
    sites,
)

PAGES: tuple[Page, ...] = (
    overview.page,
    sites.page,
    site_new.page,
    site.page,
    crawl.page,
    content.page,
    conversations.page,
    conversation.page,
    health.page,
    setup.page,
    login.page,
    missing.page,
)
