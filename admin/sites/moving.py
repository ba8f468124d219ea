"""One site as a file: taken out of this installation, and brought into it."""

from flask import flash, render_template, request
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, FileField

from admin.formats import sentence
from admin.forms import UNPROCESSABLE, Form, problem
from admin.page import Page
from admin.replies import changed, done, zip_download
from admin.sites import sites as sites_page
from admin.texts import _, lazy
from server.api.access import configuration, crawling, database
from server.backup.one_site import open_site, write_site
from server.domain.roles import Role
from server.domain.site import Site
from server.jobs.source_intake import source_folders
from server.runtime.renewal import bring_site_in
from server.storage.errors import BadBackup
from server.version import version

export_page = Page(
    under=sites_page.page, recent=True, help="operations#how-do-i-move-one-site-to-another-installation"
)
import_page = Page(
    under=sites_page.page, recent=True, help="operations#how-do-i-move-one-site-to-another-installation"
)


class ExportForm(Form):
    """What goes into the file."""

    conversations = BooleanField(lazy("Include conversations"))


class ImportForm(Form):
    """A file of another installation."""

    file = FileField(lazy("File"))


@export_page.get("/sites/<site_id>/export", role=Role.OWNER, recent=True)
def site_export(site: Site) -> ResponseReturnValue:
    return render_template("admin/site_export.html", form=ExportForm(formdata=None))


@export_page.post("/sites/<site_id>/export", role=Role.OWNER)
def site_export_make(site: Site) -> ResponseReturnValue:
    form = ExportForm()
    wanted = bool(form.conversations.data)
    answer, manifest = zip_download(
        lambda file: write_site(database(), file, version(), site.id, with_conversations=wanted),
        f"{site.id}-",
    )
    changed("exported the site", site.id, holds=manifest.summary)
    return answer


@import_page.get("/new-site/import", role=Role.OWNER, recent=True, all_sites=True)
def site_import() -> ResponseReturnValue:
    return _shown(ImportForm(formdata=None))


@import_page.post("/new-site/import", large=True, role=Role.OWNER, all_sites=True)
def site_import_bring() -> ResponseReturnValue:
    form = ImportForm()
    upload = request.files.get(form.file.name)
    if upload is None or not upload.filename:
        problem(form, "file", _("Choose the file of a site."))
        return _shown(form), UNPROCESSABLE
    try:
        folders = source_folders(configuration().settings)
        with open_site(upload.stream, folders) as found:  # type: ignore[arg-type]
            site_id = bring_site_in(database(), configuration().folder.path, found, crawling().start)
            changed("imported the site", site_id, made_at=found.manifest.made_at)
    except BadBackup as error:
        problem(form, "file", _("%(problem)s Nothing was changed.", problem=sentence(str(error))))
        return _shown(form), UNPROCESSABLE
    missing = _(
        "Secrets are not in the file. Make a new one for the webhook, and enter request headers again."
    )
    flash(missing, "warn")
    return done(_("The site was imported. Docent is crawling it now."), "site", site_id=site_id)


def _shown(form: ImportForm) -> str:
    most = configuration().settings.sources.upload_bytes
    return render_template("admin/site_import.html", form=form, most=most)
