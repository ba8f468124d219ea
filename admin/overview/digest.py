"""The weekly digest: what the overview says of last week, by e-mail, to everyone who wants it."""

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from threading import Event

from jinja2 import Environment, FileSystemLoader

from admin.formats import day
from admin.letters import send
from admin.overview.summary import Links, Period, Summary, summarise
from admin.texts import _, language, written_in
from server.contact.channel import NotDelivered
from server.runtime.runtime import Runtime
from server.storage.errors import StorageError
from server.storage.people.operators import Operator

log = logging.getLogger(__name__)

EVERY_S = 900.0
HOUR = timedelta(hours=6)
"""The digest is sent on Monday from this time (UTC) on."""
TRIED = timedelta(days=2)
"""After Monday and Tuesday a digest that could not be sent is out of date."""
_html = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True, trim_blocks=True
)


class Digest:
    """Any number of workers may send it at once: the database decides who writes to whom."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def run(self, ending: Event) -> None:
        """Until `ending` is set."""
        while not ending.wait(EVERY_S):
            try:
                self.send_due(datetime.now(UTC))
            except StorageError as error:
                log.warning("the weekly digest is tried again in %g s: %s", EVERY_S, error)

    def send_due(self, moment: datetime) -> int:
        """Send the digests that are due; return how many were sent. Nobody gets more than one a week."""
        monday = datetime.combine(moment.date() - timedelta(days=moment.weekday()), time(), UTC)
        if not self._runtime.settings.contact.smtp_url or not HOUR <= moment - monday < TRIED:
            return 0
        operators, week, sent = self._runtime.people.operators, monday.date().isoformat(), 0
        for person in operators.all():
            is_due = person.wants_digest and person.digest_week < week and person.created_at < monday
            if is_due and operators.note_digest(person.id, week, person.digest_week):
                try:
                    sent += self._send(person, monday)
                except NotDelivered as error:
                    operators.note_digest(person.id, person.digest_week, week)
                    log.warning("the weekly digest to %s is tried again: %s", person.email, error)
        return sent

    def _send(self, person: Operator, monday: datetime) -> bool:
        """Whether there was anything to say. Raises NotDelivered."""
        settings, visible = self._runtime.settings, person.visible_sites
        sites = [one for one in self._runtime.stores.sites.all() if visible is None or one.id in visible]
        period = Period(7, monday - timedelta(microseconds=1))
        span = {"from": period.days[0].isoformat(), "to": period.days[-1].isoformat()}
        links = Links(f"{settings.serving.base_url}/admin/", span)
        with written_in(person.language):
            first, last = day(period.days[0]), day(period.days[-1])
            summary = summarise(self._runtime, sites, visible, period, links, person.email)
            if not sites or not (summary.total.asked or summary.before.asked):
                return False
            said = {
                "title": _("Your chat in the week from %(first)s to %(last)s", first=first, last=last),
                "attention": _("Needs attention"),
                "more": _("Open the dashboard"),
                "why": _("Docent sends this e-mail every Monday to the people who want it."),
                "off": _("Turn it off on your account page"),
                "off_link": f"{links.home}account#digest",
            }
            subject = _("Docent: %(share)s of last week’s questions answered", share=summary.share)
            shown = {"said": said, "summary": summary, "home": links.home, "language": language()}
            html = _html.get_template("digest.html").render(shown)
            send(settings, person.email, subject, "\n".join(_text(summary, said, links.home)), html)
        return True


def _text(summary: Summary, said: dict[str, str], home: str) -> Iterator[str]:
    yield from (said["title"], "", summary.share, summary.sentence, summary.trend, "")
    for tile in summary.tiles:
        before = _("before: %(number)s", number=tile.before)
        yield f"{tile.label}: {tile.text} ({before}{', ' if tile.change else ''}{tile.change})"
    if summary.attention:
        yield from ("", said["attention"])
    for one in summary.attention:
        yield from (f"- {one.text}", f"  {one.address}")
    yield from ("", f"{said['more']}: {home}", "", said["why"], f"{said['off']}: {said['off_link']}", "")
