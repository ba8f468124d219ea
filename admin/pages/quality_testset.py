"""One test set: its questions, and the set as a file."""

from __future__ import annotations

from flask import Response, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import StringField
from wtforms.validators import Length

from admin.access import services
from admin.audit import changed
from admin.forms import UNPROCESSABLE, Form, Needed
from admin.page import Page
from admin.pages import quality as quality_page
from admin.paging import listed
from server.domain.site import Site
from server.services.quality.questions import file_of
from server.storage.testsets import StoredTestSet

page = Page(under=quality_page.page)

ROWS = 50


class NameForm(Form):
    """What a set is called."""

    name = StringField(
        "Name",
        [
            Needed("Write a name for the test set."),
            Length(max=100, message="Choose a name of at most 100 characters."),
        ],
    )


@page.get("/sites/<site_id>/quality/sets/<int:id>")
def quality_testset(site_id: str, id: int) -> ResponseReturnValue:
    """Its questions, searched by `?search=`."""
    site, testset = services().sites.get(site_id), services().testsets.get(site_id, id)
    return _shown(site, testset, NameForm(formdata=None, name=testset.name))


@page.get("/sites/<site_id>/quality/sets/<int:id>/progress")
def quality_testset_progress(site_id: str, id: int) -> ResponseReturnValue:
    """Whether it is made yet; polled by progress.js."""
    site, testset = services().sites.get(site_id), services().testsets.get(site_id, id)
    return {
        "active": testset.is_open,
        "version": f"{testset.state} {testset.count}",
        "html": render_template("admin/_quality_testset.html", site=site, testset=testset),
    }


@page.get("/sites/<site_id>/quality/sets/<int:id>.jsonl")
def quality_testset_file(site_id: str, id: int) -> ResponseReturnValue:
    """The set as a question file; uploaded again it is the same set."""
    services().sites.get(site_id)
    testset = services().testsets.get(site_id, id)
    return Response(
        file_of(services().testsets.cases(site_id, id)),
        mimetype="application/jsonl",
        headers={"Content-Disposition": f'attachment; filename="{site_id}-questions-{testset.id}.jsonl"'},
    )


@page.post("/sites/<site_id>/quality/sets/<int:id>")
def quality_testset_rename(site_id: str, id: int) -> ResponseReturnValue:
    site, testset = services().sites.get(site_id), services().testsets.get(site_id, id)
    form = NameForm(request.form)
    if not form.validate():
        return _shown(site, testset, form), UNPROCESSABLE
    services().testsets.rename(site_id, id, form.name.data.strip())
    changed("renamed a test set", testset=id, name=form.name.data.strip())
    flash("The name is saved.", "done")
    return redirect(url_for("admin.quality_testset", site_id=site_id, id=id))


@page.post("/sites/<site_id>/quality/sets/<int:id>/remove")
def quality_testset_remove(site_id: str, id: int) -> ResponseReturnValue:
    """Not while the gate measures by it."""
    services().sites.get(site_id)
    testset = services().testsets.get(site_id, id)
    gate = services().gates.get(site_id)
    if gate is not None and gate.testset_id == id:
        flash("The quality gate measures by this test set: choose another one for it first.", "problem")
        return redirect(url_for("admin.quality_testset", site_id=site_id, id=id))
    services().testsets.remove(site_id, id)
    changed("deleted a test set", testset=id, name=testset.name)
    flash(f"“{testset.name}” is deleted. Reports of its runs stay.", "done")
    return redirect(url_for("admin.quality_site", site_id=site_id))


def _shown(site: Site, testset: StoredTestSet, form: NameForm) -> str:
    search = request.args.get("search", "").strip()[:200]
    found = services().testsets
    return render_template(
        "admin/quality_testset.html",
        site=site,
        testset=testset,
        form=form,
        search=search,
        cases=listed(lambda limit, offset: found.cases(site.id, testset.id, limit, offset, search), ROWS),
    )
