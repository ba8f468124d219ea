"""Sources of a site in addition to its website: uploaded files, lists of addresses, pasted answers."""

from collections.abc import Callable

from flask import render_template
from flask.typing import ResponseReturnValue
from wtforms import MultipleFileField, StringField, TextAreaField
from wtforms.validators import DataRequired

from admin.crawls.crawls import is_active
from admin.formats import sentence
from admin.forms import NAME_LENGTH, UNPROCESSABLE, Form, problem
from admin.lists import listed, sliced
from admin.page import Page
from admin.replies import done, nothing_done
from admin.sites import sites as sites_page
from admin.texts import _, lazy, ngettext
from crawler.errors import CrawlError
from server.api.access import configuration, crawling, stores
from server.domain.addresses import absolute
from server.domain.site import Site
from server.storage.content.sources import Source, SourceKind
from server.storage.errors import SourceTooLarge, UnknownRecord

page = Page(
    tab=lazy("Sources"),
    under=sites_page.page,
    help="crawling#can-docent-answer-from-files-that-are-not-on-my-website",
)

ROWS = 100
KINDS = {
    SourceKind.FILE: lazy("File"),
    SourceKind.FOLDER: lazy("Folder"),
    SourceKind.ADDRESSES: lazy("Addresses"),
    SourceKind.PAIRS: lazy("Questions and answers"),
}
READ = ("fetched", "unchanged")


class FilesForm(Form):
    """Files from the operator's machine."""

    files = MultipleFileField(lazy("Files"))


class AddressesForm(Form):
    """Pages to read, and no others."""

    addresses = TextAreaField(lazy("Addresses"), [DataRequired(lazy("Write at least one address."))])
    addresses_name = StringField(lazy("Name of the list"), [NAME_LENGTH])


class PairsForm(Form):
    """Questions with the answers that they shall get."""

    pairs = TextAreaField(
        lazy("Questions and answers"), [DataRequired(lazy("Paste at least one question with its answer."))]
    )
    pairs_name = StringField(lazy("Name of the collection"), [NAME_LENGTH])


@page.get("/sites/<site_id>/sources")
def sources(site: Site) -> ResponseReturnValue:
    return _shown(site)


@page.post("/sites/<site_id>/sources/files", large=True)
def sources_upload(site: Site) -> ResponseReturnValue:
    form = FilesForm()
    files = [(file.filename, file.read()) for file in form.files.data or () if file and file.filename]

    def add() -> str:
        added = crawling().source_intake.add_files(site.id, files)
        return ngettext("%(name)s is added.", "%(num)s files are added.", len(added), name=added[0].name)

    if not files:
        problem(form, "files", _("Choose at least one file."))
        return _shown(site, files=form), UNPROCESSABLE
    return _added(site, form, "files", add)


@page.post("/sites/<site_id>/sources/addresses", large=True)
def sources_addresses(site: Site) -> ResponseReturnValue:
    add = crawling().source_intake.add_addresses
    return _pasted(site, AddressesForm(), "addresses", _("Addresses"), add)


@page.post("/sites/<site_id>/sources/pairs", large=True)
def sources_pairs(site: Site) -> ResponseReturnValue:
    add = crawling().source_intake.add_pairs
    return _pasted(site, PairsForm(), "pairs", _("Questions and answers"), add)


def _pasted(
    site: Site, form: Form, field: str, usual_name: str, store: Callable[[str, str, str], object]
) -> ResponseReturnValue:
    def add() -> str:
        name = (form[f"{field}_name"].data or "").strip() or usual_name
        store(site.id, name, form[field].data)
        return _("“%(name)s” is added.", name=name)

    return _added(site, form, field, add)


@page.post("/sites/<site_id>/sources/<source_id>/remove")
def source_remove(site: Site, source_id: str) -> ResponseReturnValue:
    try:
        name = stores().sources.get(site.id, source_id).name
        stores().sources.remove(site.id, source_id)
    except UnknownRecord:
        return nothing_done(_("It was removed already."), "sources")
    crawling().start(site.id)
    return done(_("%(name)s is removed. Its pages leave the answers in a moment.", name=name), "sources")


@page.get("/sites/<site_id>/sources/<source_id>")
def source(site: Site, source_id: str) -> ResponseReturnValue:
    """What a source consisted of when it was last read, what could not be read first."""
    found = stores().sources.get(site.id, source_id)
    items = stores().source_pages(site.id).items(source_id).values()
    ordered = sorted(items, key=lambda item: (item.state in READ, item.name))
    rows = listed(sliced(ordered), ROWS)
    base = configuration().settings.serving.base_url
    return render_template(
        "admin/source.html",
        source=found,
        kind=KINDS[SourceKind(found.kind)],
        items=rows,
        addresses={item.url: absolute(item.url, base) for item in rows.rows},
    )


def _added(site: Site, form: Form, field: str, add: Callable[[], str]) -> ResponseReturnValue:
    """Adds what the form brought and has it read; or shows what is wrong with it."""
    if form.validate():
        try:
            added = add()
        except (CrawlError, SourceTooLarge) as error:
            problem(form, field, sentence(str(error)))
        else:
            crawling().start(site.id)
            return done(_("%(added)s Docent is reading it now.", added=added), "sources")
    return _shown(site, **{field: form}), UNPROCESSABLE


def _shown(site: Site, **sent: Form) -> str:
    given = stores().sources.all(site.id)
    counts = stores().sources.counts(site.id)
    forms = {"files": FilesForm, "addresses": AddressesForm, "pairs": PairsForm}
    settings = configuration().settings
    return render_template(
        "admin/sources.html",
        sources=[(found, KINDS[SourceKind(found.kind)], _state(found, counts)) for found in given],
        size=stores().sources.size(site.id),
        settings=settings,
        reading=is_active(stores().crawls.latest(site.id)),
        **{name: sent.get(name) or form(formdata=None) for name, form in forms.items()},
    )


def _state(found: Source, counts: dict[str, dict[str, int]]) -> dict[str, object]:
    """Pages and problems of a source."""
    states = counts.get(found.id, {})
    pages = sum(states.get(state, 0) for state in READ)
    return {"pages": pages, "others": sum(states.values()) - pages, "message": found.message}
