"""Everything in one file, and back again."""

from flask import flash, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, FileField, StringField

from admin.forms import UNPROCESSABLE, problem
from admin.page import Page
from admin.people.passwords import PasswordAgain, is_own_password
from admin.replies import changed, unchanged, zip_download
from admin.settings import settings as settings_page
from admin.texts import _, lazy
from server.api.access import configuration, crawling, database, people_stores
from server.backup.reading import open_backup
from server.backup.shape import write_backup
from server.jobs.source_intake import source_folders
from server.runtime.renewal import restore_all
from server.storage.errors import BadBackup
from server.version import version

page = Page(section=lazy("Backup"), under=settings_page.page, help="operations#how-do-i-make-a-backup")

WORD = "restore"


class BackupForm(PasswordAgain):
    """A backup to take away."""

    secret = BooleanField(lazy("Include the key for stored secrets"))


class RestoreForm(PasswordAgain):
    """A backup to bring back."""

    file = FileField(lazy("Backup"))
    confirmation = StringField(lazy("Type “restore”"))


@page.get("/settings/backup")
def backup() -> ResponseReturnValue:
    return _shown()


@page.post("/settings/backup", has_password=True)
def backup_make() -> ResponseReturnValue:
    form = BackupForm(prefix="make-")
    if not form.validate() or not is_own_password(form):
        return _shown(make=form), UNPROCESSABLE
    secret = configuration().secret_key if form.secret.data else ""
    answer, manifest = zip_download(lambda file: write_backup(database(), file, version(), secret), "")
    changed("made a backup", with_key=bool(secret), holds=manifest.summary)
    return answer


@page.post("/settings/backup/restore", large=True, has_password=True)
def backup_restore() -> ResponseReturnValue:
    """Replaces everything, operators too: whoever is logged in has to log in again."""
    form = RestoreForm(prefix="restore-")
    if (form.confirmation.data or "").strip().lower() != WORD:
        form.validate()
        problem(form, "confirmation", _("Type the word %(word)s: everything here is replaced.", word=WORD))
        return _shown(bring=form), UNPROCESSABLE
    upload = request.files.get(form.file.name)
    valid = form.validate()
    if upload is None or not upload.filename:
        problem(form, "file", _("Choose the file of a backup."))
        return _shown(bring=form), UNPROCESSABLE
    if not valid or not is_own_password(form):
        return _shown(bring=form), UNPROCESSABLE
    try:
        folders = source_folders(configuration().settings)
        with open_backup(upload.stream, folders) as found:  # type: ignore[arg-type]
            sites = restore_all(database(), configuration().folder.path, found, crawling().start)
            made_at = found.manifest.made_at
            other_key = found.secret not in ("", *configuration().secret_keys)
    except BadBackup as error:
        reason = f"{str(error)[0].upper()}{str(error)[1:]}"
        problem(form, "file", _("%(reason)s. Nothing was changed.", reason=reason))
        return _shown(bring=form), UNPROCESSABLE
    details = {"made_at": made_at, "sites": len(sites)}
    people_stores().audit.add(g.operator.email, "restored a backup", "", details)
    unchanged()  # noted above: the operator of this request may be gone
    g.pop("operator")
    flash(_("The backup of %(when)s is restored. Log in with an account from it.", when=made_at), "done")
    if other_key:
        said = _("Its secrets need another key. Enter them again, or restore it on the command line.")
        flash(said, "problem")
    return redirect(url_for("admin.login"))


def _shown(*, make: BackupForm | None = None, bring: RestoreForm | None = None) -> str:
    return render_template(
        "admin/backup.html",
        make=make or BackupForm(formdata=None, prefix="make-"),
        bring=bring or RestoreForm(formdata=None, prefix="restore-"),
        most=configuration().settings.sources.upload_bytes,
        word=WORD,
    )
