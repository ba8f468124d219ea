"""Every site with the state of its index and its last crawl, its tag for pages, and a new site."""

from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from flask import redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import escape
from wtforms import BooleanField, StringField
from wtforms.validators import DataRequired, StopValidation

from admin.forms import (
    NAME_LENGTH,
    UNPROCESSABLE,
    Form,
    check_address,
    free_id,
    is_private,
    problem,
    required,
    suggest_id,
)
from admin.page import Page
from admin.replies import changed, done, unchanged
from admin.start.walk import ADDRESS, MARKS, no_site
from admin.texts import _, lazy
from admin.visible import visible_sites
from crawler.errors import BadStart, FetchError, Refused
from server.api.access import configuration, crawling, stores
from server.domain.roles import Role
from server.domain.site import DOCS_ID, OWN_SITE, Site
from server.jobs.crawl_options import crawl_options
from server.jobs.dry_run import TooManyDryRuns
from server.storage.errors import SiteExists

page = Page(menu=lazy("Sites"), help="dashboard#how-do-i-add-a-site")


@page.get("/sites")
def sites() -> ResponseReturnValue:
    rows = [
        (site, stores().crawls.latest(site.id), stores().content(site.id).counts()[0])
        for site in visible_sites()
    ]
    return render_template("admin/sites.html", rows=rows)


@dataclass(frozen=True, slots=True)
class Snippet:
    """What an operator copies, and where to try it first."""

    base: str
    """Address of this server, as pages load the widget from it."""
    site_id: str

    @property
    def loader(self) -> str:
        return f"{self.base}/widget/embed.js"

    @property
    def tag(self) -> str:
        return f'<script src="{escape(self.loader)}" data-site="{escape(self.site_id)}" async></script>'

    @property
    def demo(self) -> str:
        return f"{self.base}/demo/{self.site_id}"

    @property
    def reaches_only_here(self) -> bool:
        """Whether visitors elsewhere cannot load it: PUBLIC_URL is missing."""
        return is_private(self.base)

    @property
    def docusaurus(self) -> str:
        return f'scripts: [{{ src: "{self.loader}", "data-site": "{self.site_id}", async: true }}],'

    @property
    def mkdocs_yml(self) -> str:
        return "theme:\n  name: mkdocs  # or the theme that you use\n  custom_dir: overrides"

    @property
    def mkdocs(self) -> str:
        block = f"{{% block scripts %}}\n  {{{{ super() }}}}\n  {self.tag}\n{{% endblock %}}"
        return f'{{% extends "base.html" %}}\n\n{block}'

    @property
    def next(self) -> str:
        script = f'<Script src="{self.loader}" data-site="{self.site_id}" />'
        return f'import Script from "next/script";\n\n{script}'

    @property
    def tag_manager(self) -> str:
        """Tag Manager leaves out attributes of its own tags that it does not know."""
        return (
            "<script>\n"
            '  var chat = document.createElement("script");\n'
            f'  chat.src = "{self.loader}";\n'
            f'  chat.dataset.site = "{self.site_id}";\n'
            "  document.body.appendChild(chat);\n"
            "</script>"
        )


def snippet_of(site: Site) -> Snippet:
    """Without PUBLIC_URL the address by which the operator came is the best guess."""
    return Snippet(configuration().settings.serving.public_url or request.host_url.rstrip("/"), site.id)


new_page = Page(under=page)
PERMIT = lazy(
    "To permit it, an owner adds it to the private hosts under Settings. Or start Docent with "
    "CRAWL_ALLOW_PRIVATE=1."
)


class SiteForm(Form):
    """Where the site is, and what to call it here."""

    address = StringField(
        lazy("Address"), [DataRequired(lazy("Write the address of the site, such as https://example.com/."))]
    )
    name = StringField(lazy("Name"), [NAME_LENGTH])
    own = BooleanField(lazy("This is my own website"))

    def validate_address(self, field: StringField) -> None:
        """Completes the address and refuses what cannot or may not be crawled."""
        check_address(self, field)
        site = Site("", "", "", (field.data,))
        try:
            crawl_options(site, configuration().settings).guard.check(field.data)
        except Refused as error:
            message = _("This address is not crawled: %(reason)s.", reason=error)
            raise StopValidation(f"{message} {PERMIT if error.can_be_allowed else ''}") from None
        except BadStart as error:
            raise StopValidation(str(error)) from None
        except FetchError:
            return  # the crawl says that the name is unknown


class NameForm(Form):
    """A site without a website."""

    site_name = required(
        lazy("What you call it"), lazy("Write what you call it."), 100, lazy("Choose a shorter name.")
    )


@new_page.get("/new-site", role=Role.EDITOR, all_sites=True)
def site_new() -> ResponseReturnValue:
    """Filled in where somebody comes back from a dry run. The first site is probably the operator's own."""
    given = {name: request.args.get(name, "") for name in ("address", "name")}
    own = "own" in request.args if given["address"] else all(one.id == DOCS_ID for one in visible_sites())
    return _shown(SiteForm(formdata=None, own=own, **given))


@new_page.post("/new-site", all_sites=True)
def site_create() -> ResponseReturnValue:
    form = SiteForm()
    if "look" in request.form:
        return _looked_at(form)
    if not form.validate() or not (site := _create(form)):
        return _shown(form=form), UNPROCESSABLE
    crawling().start(site.id)
    changed("added a site", site.id, address=form.address.data)
    return done(_("%(name)s is added. The crawl begins now.", name=site.name), "start_crawl", site_id=site.id)


@new_page.post("/new-site/of-sources", all_sites=True)
def site_create_of_sources() -> ResponseReturnValue:
    form = NameForm()
    if not form.validate():
        return _shown(name_form=form), UNPROCESSABLE
    name = form.site_name.data.strip()
    site = stores().sites.create(_new(free_id(name, _taken()), name))
    changed("added a site without a website", site.id, name=name)
    message = _("%(name)s is added. Now give it files, single pages or answers.", name=name)
    return done(message, "sources", site_id=site.id)


def _looked_at(form: SiteForm) -> ResponseReturnValue:
    """What would be crawled, before anything is kept."""
    unchanged()
    if not form.validate() or is_taken(form):
        return _shown(form=form), UNPROCESSABLE
    address = form.address.data
    try:
        run_id = crawling().dry_runs.start(Site("", "", "", (address,), options={OWN_SITE: form.own.data}))
    except (BadStart, TooManyDryRuns) as error:
        problem(form, "address", str(error))
        return _shown(form=form), UNPROCESSABLE
    given = {"address": address, "name": form.name.data or "", "own": "y" if form.own.data else None}
    return redirect(url_for("admin.dry_run", run_id=run_id, **given))


def is_taken(form: SiteForm, but: str = "") -> bool:
    """Whether a site other than `but` starts at the address of the form, which then says so."""
    known = (site for site in stores().sites.all() if site.id != but)
    same = next((site for site in known if form.address.data in site.start_urls), None)
    if same is not None:
        message = _("The site “%(name)s” starts at this address already. Write another one.", name=same.name)
        problem(form, "address", message)
    return same is not None


def _shown(form: SiteForm | None = None, name_form: NameForm | None = None) -> str:
    return render_template(
        "admin/site_new.html",
        form=form or SiteForm(formdata=None),
        name_form=name_form or NameForm(formdata=None),
        walk=no_site(ADDRESS),
    )


def _taken() -> set[str]:
    return {site.id for site in stores().sites.all()}


def _usual_name(address: str) -> str:
    """The host, with the path where another site has that name."""
    parts = urlsplit(address)
    is_taken = any(site.name == parts.netloc for site in stores().sites.all())
    return f"{parts.netloc}{parts.path}".rstrip("/")[:100] if is_taken else parts.netloc


def _new(id: str, name: str, **options: object) -> Site:
    """A site with what the installation's settings say of new ones."""
    settings = configuration().settings
    return Site(
        id=id, name=name, title="", strategy=settings.retrieval.strategy, flow=settings.retrieval.flow,
        options={**settings.privacy.new_site_options, **options},
    )  # fmt: skip


def _create(form: SiteForm) -> Site | None:
    address = form.address.data
    if is_taken(form):
        return None
    name = (form.name.data or "").strip() or _usual_name(address)
    site = _new(suggest_id(address, _taken()), name, **{MARKS: [], OWN_SITE: form.own.data})
    try:
        return stores().sites.create(replace(site, start_urls=(address,)))
    except SiteExists:
        # Somebody else added the same one between the look and the write.
        problem(form, "address", _("This site was added a moment ago. Find it under Sites."))
        return None
