"""The operator's own answers of one site as a file: out, and in again."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Response, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import FileField

from admin.access import services
from admin.audit import changed
from admin.formats import sentence
from admin.forms import UNPROCESSABLE, Form
from admin.page import Page
from admin.pages import curated as curated_page
from admin.sessions import current_operator
from server.domain.curated_file import COLUMNS, CuratedFileError, read_answers, written_csv, written_jsonl
from server.domain.site import Site

page = Page(under=curated_page.page)

Errors = Sequence[tuple[int, str]]


class ImportForm(Form):
    """One file."""

    answers = FileField("File")


@page.get("/sites/<site_id>/answers/import")
def curated_import(site_id: str) -> ResponseReturnValue:
    return _shown(services().sites.get(site_id), ImportForm(formdata=None))


@page.post("/sites/<site_id>/answers/import", large=True)
def curated_take_in(site_id: str) -> ResponseReturnValue:
    """All of the file, or nothing of it."""
    site = services().sites.get(site_id)
    file = request.files.get("answers")
    if file is None or not file.filename:
        return _refused(site, [(0, "choose a file")])
    is_json = file.filename.lower().endswith((".jsonl", ".json", ".ndjson"))
    try:
        found = read_answers(site_id, file.read(), is_json=is_json)
    except CuratedFileError as error:
        return _refused(site, error.errors)
    operator = current_operator()
    new, replaced = services().curated.save_all(found, operator.email if operator else "")
    changed("imported own answers", site_id, new=new, replaced=replaced)
    flash(f"{new} new, {replaced} replaced. Visitors get them from now on.", "done")
    return redirect(url_for("admin.curated", site_id=site_id))


@page.get("/sites/<site_id>/answers.csv")
def curated_csv(site_id: str) -> ResponseReturnValue:
    """For spreadsheets."""
    services().sites.get(site_id)
    # The mark at the start tells Excel that it is UTF-8.
    return _file(
        "\ufeff" + written_csv(services().curated.all(site_id)), "text/csv", f"{site_id}-answers.csv"
    )


@page.get("/sites/<site_id>/answers.jsonl")
def curated_jsonl(site_id: str) -> ResponseReturnValue:
    """For programs."""
    services().sites.get(site_id)
    return _file(
        written_jsonl(services().curated.all(site_id)), "application/x-ndjson", f"{site_id}-answers.jsonl"
    )


def _file(text: str, kind: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, content_type=f"{kind}; charset=utf-8", headers=headers)


def _refused(site: Site, errors: Errors) -> ResponseReturnValue:
    return _shown(site, ImportForm(request.form), errors), UNPROCESSABLE


def _shown(site: Site, form: ImportForm, errors: Errors = ()) -> str:
    said = [(line, sentence(message)) for line, message in errors]
    return render_template("admin/curated_import.html", site=site, form=form, errors=said, columns=COLUMNS)
