"""What an operator does about conversations: replies, exports, erasures. Bad input changes nothing."""

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta

import pytest

from server.domain.answer import Outcome
from server.domain.contact import Channel, DeliveryState, DeliveryTry
from server.domain.question import Turn
from server.domain.roles import Role
from server.storage.conversations.feedback import FeedbackStore, LabelStore
from server.storage.conversations.questions import BATCH
from server.storage.delivery.contact import ReplyStore, reply_deliveries
from tests.admin.samples import ask, make_site

MAIL = {"smtp_url": "smtp://127.0.0.1:2525", "mail_from": "docent@lantern.example"}


def write(runtime, conversation=None, visitor="visitor-1", site="lantern"):
    return runtime.delivery.contact.add(
        site, visitor, "v@visitor.example", "Call me", conversation, [Channel.EMAIL]
    )


class TestReply:
    @pytest.fixture
    def runtime(self, make_runtime):
        return make_runtime(**MAIL)

    def test_a_reply_is_stored_to_be_sent_and_shown_with_its_log(self, operator, runtime, site):
        asked = ask(runtime)
        request = write(runtime, asked.conversation_id)
        page = f"/admin/messages/{request.id}"
        answer = operator.send(page, {"text": "  We call <b>today</b>.\n\nAda  "}, f"{page}/reply")
        assert (answer.status_code, answer.location) == (302, page)
        ((reply, (delivery,)),) = ReplyStore(runtime.database).of([request.id])[request.id]
        assert (reply.text, reply.operator) == ("We call <b>today</b>.\n\nAda", "ada@example.com")
        assert delivery.state is DeliveryState.WAITING
        store = reply_deliveries(runtime.database)
        claimed = store.claim(datetime.now(UTC), timedelta(minutes=1))
        tried = DeliveryTry(datetime.now(UTC), "v@visitor.example", False, "mail server is down")
        store.record(claimed, tried, DeliveryState.FAILED)
        for path in (page, f"/admin/conversations/{asked.conversation_id}"):
            shown = operator.get(path).text
            assert "We call &lt;b&gt;today&lt;/b&gt;." in shown
            assert "Mail server is down." in shown
        again = f"{page}/replies/{reply.id}/again"
        assert operator.send(page, {}, again).status_code == 302
        assert store.of([reply.id])[reply.id][0].state is DeliveryState.WAITING
        assert "Answered" in operator.get("/admin/messages").text
        said = [(entry.action, entry.details) for entry in runtime.people.audit.recent(10)]
        assert ("replied to a visitor", {"reference": request.reference}) in said

    @pytest.mark.parametrize(
        ("text", "says"),
        [("", "Write a reply to the visitor."), ("x" * 10_001, "Keep to 10,000 characters.")],
    )
    def test_a_reply_that_is_none_is_refused_beside_its_field(self, operator, runtime, site, text, says):
        request = write(runtime)
        page = f"/admin/messages/{request.id}"
        answer = operator.send(page, {"text": text}, f"{page}/reply")
        assert answer.status_code == 422
        assert says in answer.text
        assert ReplyStore(runtime.database).of([request.id]) == {}

    def test_a_reply_to_nothing_and_one_of_another_message_are_not_found(self, operator, runtime, site):
        request, other = write(runtime), write(runtime)
        reply = ReplyStore(runtime.database).add(other.id, "ada", "Hello")
        page = f"/admin/messages/{request.id}"
        assert operator.send(page, {"text": "Hello"}, "/admin/messages/none/reply").status_code == 404
        assert operator.send(page, {}, f"{page}/replies/{reply.id}/again").status_code == 404
        assert operator.send(page, {}, f"{page}/replies/none/again").status_code == 404


def test_without_a_mail_server_the_page_says_what_to_set(operator, runtime, site):
    request = write(runtime)
    page = f"/admin/messages/{request.id}"
    shown = operator.get(page).text
    assert "No mail server is set up" in shown
    assert "<textarea" not in shown
    answer = operator.send(page, {"text": "Hello"}, f"{page}/reply")
    assert answer.status_code == 422
    assert "An owner can set one up under Settings" in answer.text
    assert "Hello</textarea>" in answer.text


class TestExport:
    def test_what_the_filter_leaves_comes_as_csv_and_as_jsonl(self, operator, runtime, site):
        first = ask(runtime, trace={"support": 0.4})
        ask(runtime, question="Refused?", outcome=Outcome.REFUSED, citations=())
        LabelStore(runtime.database).add("lantern", first.conversation_id, "bug", "ada")
        FeedbackStore(runtime.database).put(first.id, "visitor-1", True)
        answer = operator.get("/admin/conversations.csv?outcome=answered")
        assert answer.headers["Content-Type"].startswith("text/csv")
        assert "docent-conversations-" in answer.headers["Content-Disposition"]
        (row,) = csv.DictReader(io.StringIO(answer.text))
        assert (row["question"], row["outcome"], row["thumb"]) == (
            "When does a parcel arrive?",
            "answered",
            "up",
        )
        assert (row["labels"], row["support"], row["took_ms"]) == ("bug", "0.4", "7.8")
        assert row["sources"] == "https://lantern.example/delivery"
        lines = operator.get("/admin/conversations.jsonl?site=lantern").text.splitlines()
        records = [json.loads(line) for line in lines]
        assert [record["question"] for record in records] == ["Refused?", "When does a parcel arrive?"]
        assert records[1]["citations"][0]["quote"].startswith("Parcels inside")
        details = runtime.people.audit.recent(1)[0].details
        assert details.pop("file").startswith("lantern-conversations-")
        assert details == {"format": "jsonl", "filters": ["site"]}

    @pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r", "\n"])
    def test_no_cell_is_a_formula(self, operator, runtime, site, begin):
        ask(
            runtime,
            question=f"{begin}HYPERLINK(1)",
            text=f"{begin}1+1",
            strategy=f"{begin}2",
            model=f"{begin}3",
        )
        (row,) = csv.DictReader(io.StringIO(operator.get("/admin/conversations.csv").text, newline=""))
        for name in ("question", "answer", "strategy", "model"):
            assert row[name].startswith(f"'{begin}"), name

    def test_nor_where_a_spreadsheet_divides_cells_at_semicolons(self, operator, runtime, site):
        formula = "=HYPERLINK(A1)"
        ask(runtime, question=f'Hi;{formula};{formula}; "{formula}', text=f"Hi\n{formula}\r\n @{formula}\t+1")
        written = operator.get("/admin/conversations.csv").text
        cells = [cell.strip(' "') for line in written.splitlines() for cell in re.split("[;\t]", line)]
        assert "'=HYPERLINK(A1)" in cells
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]

    def test_a_long_list_is_complete_also_when_many_were_asked_at_once(self, operator, runtime, site):
        at = datetime(2026, 5, 4, tzinfo=UTC)
        id = runtime.dialogue.conversations.start("lantern", "v")
        count = 2 * BATCH + 3
        for number in range(count):
            ask(
                runtime,
                question=str(number),
                conversation_id=id,
                asked_at=at + timedelta(seconds=number // 700),
            )
        rows = csv.DictReader(io.StringIO(operator.get("/admin/conversations.csv").text))
        assert [row["question"] for row in rows] == [str(number) for number in reversed(range(count))]

    def test_nothing_is_exported_as_a_header_alone(self, operator, runtime, site):
        assert operator.get("/admin/conversations.csv?outcome=limited").text.startswith("asked_at,site,")
        assert operator.get("/admin/conversations.jsonl?outcome=limited").text == ""


class TestErase:
    @pytest.fixture
    def talked(self, runtime, site):
        """Two conversations of one visitor, one of another, and one of the first on another site."""
        make_site(runtime, "other", "Other", "https://other.example/")
        first = ask(runtime).conversation_id
        second = ask(runtime).conversation_id
        ask(runtime, conversation_id=runtime.dialogue.conversations.start("lantern", "visitor-2"))
        ask(runtime, "other")
        runtime.engine.history.add(first, Turn("When?", "Soon."))
        write(runtime, first)
        write(runtime)
        return first, second

    def test_the_page_says_what_would_be_gone_and_changes_nothing(self, operator, runtime, talked):
        page = operator.get(f"/admin/conversations/{talked[0]}/erase").text
        assert "2 conversations: 2 questions with their answers" in page
        assert "2 messages to people" in page
        assert runtime.dialogue.conversations.get(talked[0])

    def test_all_of_the_visitor_on_this_site_is_gone_and_nothing_else(self, operator, runtime, talked):
        page = f"/admin/conversations/{talked[0]}/erase"
        answer = operator.send(page, {})
        assert (answer.status_code, answer.location) == (302, "/admin/conversations?site=lantern")
        for id in talked:
            assert operator.get(f"/admin/conversations/{id}").status_code == 404
        assert runtime.delivery.contact.recent() == []
        assert runtime.engine.history.turns(talked[0]) == ()
        left = runtime.dialogue.conversations.recent("lantern", 10) + runtime.dialogue.conversations.recent(
            "other", 10
        )
        assert sorted((found.site_id, found.visitor_id) for found in left) == [
            ("lantern", "visitor-2"),
            ("other", "visitor-1"),
        ]
        entry = runtime.people.audit.recent(1)[0]
        assert (entry.action, entry.site_id, entry.details) == (
            "erased a visitor",
            "lantern",
            {"conversations": 2},
        )
        assert talked[0] not in str(entry)
        assert "visitor-1" not in str(entry)
        assert operator.send("/admin/messages", {}, page).status_code == 404

    def test_a_viewer_erases_labels_and_answers_nobody(self, operator, operator_id, runtime, talked):
        runtime.people.operators.create("other@example.com", "-", Role.OWNER)
        runtime.people.operators.set_role(operator_id, Role.VIEWER)
        conversation, request = f"/admin/conversations/{talked[0]}", runtime.delivery.contact.recent()[0]
        page = operator.get(conversation).text
        for offered in ("Erase this visitor", "New label", "Correct this answer", "Send again", "Reply"):
            assert offered not in page
        assert operator.get(f"{conversation}/erase").status_code == 403
        for path in (
            *(f"{conversation}/{act}" for act in ("erase", "labels", "labels/remove")),
            f"/admin/messages/{request.id}/reply",
        ):
            assert operator.send("/admin/", {"label": "x", "text": "x"}, path).status_code == 403
        assert runtime.dialogue.conversations.get(talked[0])
