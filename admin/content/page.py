"""One page of a site as it is indexed: its pieces, what it contributes, and how its quotes stand."""

from collections.abc import Callable
from difflib import unified_diff
from functools import partial

from flask import abort, render_template, request
from flask.typing import ResponseReturnValue
from wtforms import HiddenField, StringField, TextAreaField
from wtforms.validators import DataRequired

from admin.content import content as content_list
from admin.content.content import chunk_blocks
from admin.formats import sentence
from admin.forms import CONFLICT, UNPROCESSABLE, SharedForm, at_most, problem
from admin.page import Page
from admin.people.sessions import operator_email
from admin.replies import changed, done, refused
from admin.texts import _, lazy
from crawler.errors import BadFile
from server.api.access import configuration, crawling, stores
from server.domain.addresses import absolute, stored
from server.domain.chunk import PageWords, joined_text
from server.domain.roles import Role
from server.domain.site import Site
from server.storage.content.decisions import MOST_PINS, PageDecision
from server.storage.errors import TooManyPins, UnknownRecord

page = Page(under=content_list.page, help="content#how-do-i-correct-a-page")

QUOTES = 200
"""Different quotes that are looked for, the newest ones."""
SHOWN = 10
"""The most intact quotes that are shown; broken ones are all shown."""


@page.get("/sites/<site_id>/content/page")
def content_page(site: Site) -> ResponseReturnValue:
    """The page in `?url=`, as visitors open it or as it is stored; also one that has left the index."""
    base = configuration().settings.serving.base_url
    url = stored(request.args.get("url", "").strip(), base)
    content = stores().content(site.id)
    record, chunks = content.find(url), content.page(url)
    decision = stores().decisions(site.id).get(url)
    cited = stores().cited_pages(site.id)
    address = absolute(url, base)
    times, last = cited.figures([address]).get(address, (0, None))
    run = stores().crawls.latest_of_page(site.id, url)
    if record is None and not times and run is None and (decision is None or decision.is_idle):
        abort(404)
    quotes = cited.quotes(address, QUOTES)
    words = PageWords(joined_text(chunks))
    standing = [quote for quote in quotes if words.hold(quote.text)]
    return render_template(
        "admin/content_page.html",
        url=url,
        address=address,
        record=record,
        decision=decision or PageDecision(url),
        title=(record.title if record else decision.title if decision else "") or address,
        chunks=[(chunk, chunk_blocks(chunk.text)) for chunk in chunks],
        times=times,
        last=last,
        most=sorted(standing, key=lambda quote: -quote.times)[:SHOWN],
        broken=[quote for quote in quotes if quote not in standing],
        checked=len(quotes),
        run=run,
        most_pins=MOST_PINS,
        is_served=not url.startswith(("http://", "https://")),
    )


SOON = lazy("Visitors get their answers from it in a moment.")
MOST_LINES = 2000
"""The most lines of a comparison of two versions."""


class PageForm(SharedForm):
    """A page as Docent shall know it."""

    title = StringField(lazy("Title"), [DataRequired(lazy("Write the title of the page.")), at_most(300)])
    text = TextAreaField(
        lazy("Text"),
        [DataRequired(lazy("Write the text of the page. To take it out of the answers, exclude it."))],
    )
    seen = HiddenField()


@page.get("/sites/<site_id>/content/edit", role=Role.EDITOR)
def content_edit(site: Site) -> ResponseReturnValue:
    """The page in `?url=` to be corrected; with what the website says, where that has changed since."""
    url = _url(site)
    return _shown(site, url, filled(site, url).noted())


def filled(site: Site, url: str) -> PageForm:
    """The form with what is stored."""
    texts = crawling().pages.texts(site.id, url)
    return PageForm(formdata=None, title=texts.title, text=texts.text, seen=texts.site_hash)


@page.post("/sites/<site_id>/content/edit", large=True)
def content_save(site: Site) -> ResponseReturnValue:
    url = _url(site)
    form = PageForm(request.form)
    if form.validate():
        if form.is_overtaken(filled(site, url)):
            return _shown(site, url, form), CONFLICT
        try:
            corrected = crawling().pages.edit(
                site.id, url, form.title.data, form.text.data, form.seen.data or "", operator_email()
            )
        except BadFile as error:
            problem(form, "title" if "title" in str(error) else "text", sentence(str(error)))
        else:
            if corrected:
                changed("corrected a page", page=url)
                return done(_("The page is corrected. %(soon)s", soon=SOON), "content_page", url=url)
            changed("left a page as the website has it", page=url)
            message = _("That is what the website says, so nothing is changed.")
            return done(message, "content_page", url=url)
    return _shown(site, url, form), UNPROCESSABLE


@page.post("/sites/<site_id>/content/undo")
def content_undo(site: Site) -> ResponseReturnValue:
    return _do(site, crawling().pages.undo_edit, "took the website's version of a page",
               _("Docent uses the website’s version again. %(soon)s", soon=SOON))  # fmt: skip


@page.post("/sites/<site_id>/content/keep")
def content_keep(site: Site) -> ResponseReturnValue:
    url, seen = _url(site), request.form.get("seen", "")[:100]
    crawling().pages.keep_edit(site.id, url, seen, operator_email())
    changed("kept the corrected version of a page", page=url)
    message = _("Your version stays. Docent tells you when the website changes the page again.")
    return done(message, "content_page", url=url)


@page.post("/sites/<site_id>/content/exclude")
def content_exclude(site: Site) -> ResponseReturnValue:
    return _do(site, crawling().pages.exclude, "excluded a page",
               _("The page is excluded from all answers, even after later crawls."))  # fmt: skip


@page.post("/sites/<site_id>/content/put-back")
def content_put_back(site: Site) -> ResponseReturnValue:
    return _do(site, crawling().pages.put_back, "put a page back",
               _("The page is included again. %(soon)s", soon=SOON))  # fmt: skip


@page.post("/sites/<site_id>/content/pin")
def content_pin(site: Site) -> ResponseReturnValue:
    try:
        return _do(site, partial(crawling().pages.set_pinned, pinned=True), "pinned a page",
                   _("The page is pinned: Docent checks it for every question."))  # fmt: skip
    except TooManyPins as error:
        return refused(sentence(str(error)), "content_page", url=_url(site))


@page.post("/sites/<site_id>/content/unpin")
def content_unpin(site: Site) -> ResponseReturnValue:
    return _do(
        site,
        partial(crawling().pages.set_pinned, pinned=False),
        "unpinned a page",
        _("The page is no longer pinned."),
    )


def _do(site: Site, action: Callable[[str, str, str], None], name: str, answer: str) -> ResponseReturnValue:
    url = _url(site)
    action(site.id, url, operator_email())
    changed(name, page=url)
    return done(answer, "content_page", url=url)


def _url(site: Site) -> str:
    """The page that a form or a link is about, by its stored address. Raises UnknownSite, UnknownRecord."""
    given = request.form.get("url") if request.method == "POST" else request.args.get("url")
    url = stored((given or "").strip(), configuration().settings.serving.base_url)
    if not url or len(url) > 2000:
        abort(404)
    known = stores().content(site.id).find(url) or stores().decisions(site.id).get(url)
    if known is None:
        raise UnknownRecord(f"there is no page {url} in the answers of this site")
    return url


def _shown(site: Site, url: str, form: PageForm) -> str:
    texts = crawling().pages.texts(site.id, url)
    decision = stores().decisions(site.id).get(url)
    mine = [f"# {texts.title}", *texts.text.splitlines()]
    theirs = [f"# {texts.site_title}", *texts.site_text.splitlines()]
    lines = list(unified_diff(theirs, mine, lineterm="", n=2))[2:]
    return render_template(
        "admin/content_edit.html",
        url=url,
        form=form,
        texts=texts,
        decision=decision,
        lines=lines[:MOST_LINES],
        is_long=len(lines) > MOST_LINES,
    )
