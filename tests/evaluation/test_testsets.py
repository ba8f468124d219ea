"""`python -m server testset`: questions made from the pages of a real small site."""

import json

import pytest

from server.__main__ import main
from server.evaluation.candidates import tells_enough
from server.evaluation.questions import read_questions
from tests.openai_server import OpenAIServer
from tests.websites import crawl_shop

FAQ = {"@context": "https://schema.org", "@type": "FAQPage", "mainEntity": [
    {"@type": "Question", "name": "Do you ship to the moon?",
     "acceptedAnswer": {"@type": "Answer", "text": "We ship to every planet but not to moons."}},
]}  # fmt: skip
LINKS = " ".join(
    f'<a href="/{path}">{words}</a>' for path, words in
    [("lamps", "our brass lamps"), ("lamps", "read more"), ("shipping", "read more"), ("shipping", "what parcels cost")]
)  # fmt: skip
ZEBRAS = "Zebra saddles are sewn by hand from waxed canvas, and each striped pony gets its own pattern. " * 3
SITE = {
    "/": ("Lantern Shop", f"<p>The shop has lamps and more. {LINKS} <a href='/zebra'>saddles</a></p>"),
    "/lamps": ("Brass lamps", "<h2>Overview</h2><p>Lamps of brass with a dimmer and a long cord of linen.</p>"
               "<h2>Cleaning brass parts</h2><p>Rub them with a soft cloth and a drop of olive oil, never with "
               "vinegar, which eats the lacquer off every brass lamp that we have sold in our forty years.</p>"),
    "/shipping": ("Shipping parcels", "<h2>Overview</h2><p>We ship to every planet but not to moons.</p>"
                  "<h2>Parcels to islands</h2><p>Parcels to islands take five working days, since the ferry "
                  "leaves twice a week and waits for calm weather before it takes anything on board, as the captain is careful.</p>"
                  f"<script type='application/ld+json'>{json.dumps(FAQ)}</script>"),
    "/zebra": ("Hand-sewn zebra saddles", f"<p>{ZEBRAS}</p>"),
    "/jobs": ("Working with us", "<p>We look for people who like lamps. Write to jobs@lantern.example.</p>"),
}  # fmt: skip
SITE["/lamps"] = (SITE["/lamps"][0], SITE["/lamps"][1] + "<p><a href='/jobs'>Working here</a></p>")


@pytest.fixture(scope="module")
def shop(tmp_path_factory, model_cache):
    """A data folder with the indexed shop, and its address."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "models").symlink_to(model_cache)
    return folder, crawl_shop(folder, SITE)


@pytest.fixture
def testset(shop, tmp_path, capsys):
    folder, url = shop

    def testset(*more, settings=(), site="shop", out=tmp_path / "made" / "set.jsonl"):
        chosen = [part for pair in (f"DATA_DIR={folder}", *settings) for part in ("--set", pair)]
        code = main([*chosen, "testset", "--site", site, "--out", str(out), *more])
        said = capsys.readouterr()
        if code:
            return code, said.err
        cases = read_questions(out, f"{url}/")
        return cases, said.out

    return testset


def asked(cases):
    return {case.question: [page.rpartition("/")[2] for page in case.expected_urls] for case in cases}


def test_headings_ask_for_their_page_unless_they_stand_on_several(testset):
    cases, _ = testset("--kinds", "headings")
    assert asked(cases) == {
        "Lantern Shop": [""],
        "Brass lamps": ["lamps"],
        "Cleaning brass parts": ["lamps"],
        "Shipping parcels": ["shipping"],
        "Parcels to islands": ["shipping"],
        "Hand-sewn zebra saddles": ["zebra"],
    }
    assert "Overview" not in asked(cases)


def test_link_words_ask_for_the_one_page_that_they_lead_to(testset):
    cases, _ = testset("--kinds", "links")
    assert asked(cases) == {
        "our brass lamps": ["lamps"],
        "what parcels cost": ["shipping"],
        "Working here": ["jobs"],
    }
    assert {case.lang for case in cases} == {"en"}


def test_marked_questions_come_with_their_answer_as_evidence(testset):
    (case,), said = testset("--kinds", "faq")
    assert (case.question, case.answer) == (
        "Do you ship to the moon?",
        "We ship to every planet but not to moons.",
    )
    assert case.evidence == case.answer
    assert "1 faq" in said
    assert "100 were asked for" in said


def test_the_same_seed_gives_the_same_file_and_another_one_another(testset):
    first, _ = testset("--count", "4", "--seed", "3")
    again, _ = testset("--count", "4", "--seed", "3")
    others = [testset("--count", "4", "--seed", str(seed))[0] for seed in range(4, 9)]
    assert first == again
    assert any(other != first for other in others)
    assert len(first) == 4
    assert {case.id.split("-")[0] for case in first} == {"faq", "headings", "links"}


def test_a_few_questions_are_spread_over_the_pages(testset):
    cases, _ = testset("--kinds", "headings", "--count", "4")
    assert len({case.expected_urls for case in cases}) == 4


def test_unanswerable_questions_leave_out_the_only_page_of_their_subject(testset):
    cases, said = testset("--unanswerable", "1")
    *answerable, last = cases
    assert (last.type, last.expected_urls) == ("unanswerable", ())
    (page,) = last.left_out
    assert all(page not in case.expected_urls for case in answerable)
    assert "1 unanswerable" in said
    cases, said = testset("--unanswerable", "50")
    assert sum(case.type == "unanswerable" for case in cases) == 1, "at most a fifth of the pages"
    assert "50 unanswerable ones were asked for" in said


def test_what_was_left_out_is_refused_by_the_evaluation_and_else_answered(testset, shop, tmp_path, capsys):
    folder, url = shop
    questions, out = tmp_path / "zebra.jsonl", tmp_path / "out"
    row = {"question": "What are zebra saddles sewn from?", "type": "unanswerable"}
    rows = [{**row, "id": "hidden", "left_out": [f"{url}/zebra"]}, {**row, "id": "there"}]
    questions.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    order = ["evaluate", "--site", "shop", "--questions", str(questions), "--out", str(out)]
    assert main(["--set", f"DATA_DIR={folder}", *order, "--strategies", "hybrid,questions"]) == 0
    answers = [json.loads(line) for line in (out / "answers.jsonl").read_text().splitlines()]
    assert len(answers) == 4
    for answer in answers:
        ranked = [page.rpartition("/")[2] for page in answer["ranked_urls"]]
        assert ("zebra" in ranked) == (answer["id"] == "there")


def writer(body):
    """Asks about the first sentence of the passage; spoils the replies about lamps and saddles."""
    passage = str(body["messages"][-1]["content"])
    first = passage.split("\n")[1].split(". ")[0]
    if "brass" in passage:
        return "I would rather talk about lamps."
    evidence = "words that stand nowhere on the page" if "Zebra" in passage else first
    return json.dumps({"question": f"What about {first[:20]}?", "answer": first, "evidence": evidence})


def test_a_model_writes_questions_whose_evidence_stands_on_the_page(testset):
    with OpenAIServer(script=writer) as server:
        settings = [f"OPENAI_BASE_URL={server.base_url}", "OPENAI_API_KEY=k", "CHAT_MODEL=tiny"]
        cases, said = testset("--kinds", "model", settings=settings)
    assert [case.expected_urls[0].rpartition("/")[2] for case in cases] == ["shipping"]
    assert cases[0].evidence.startswith("Parcels to islands take five working days")
    assert "1 replies could not be read" in said
    assert "evidence of 1 is not on its page" in said


def test_a_model_that_writes_nothing_usable_is_told_of(testset):
    with OpenAIServer(script=lambda body: "Gladly!") as server:
        settings = [f"OPENAI_BASE_URL={server.base_url}", "OPENAI_API_KEY=k", "CHAT_MODEL=chatty"]
        code, said = testset("--kinds", "model", settings=settings)
    assert code == 1
    assert "3 replies could not be read" in said


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--kinds", "guesses"], "headings, faq, links, model"),
        (["--kinds", "model"], "needs a chat model"),
    ],
)
def test_what_cannot_be_made_is_one_clear_line(testset, more, told):
    code, said = testset(*more)
    assert code == 1
    assert told in said
    assert said.count("\n") == 1


def test_an_unknown_site_is_named(testset):
    assert "nowhere" in testset(site="nowhere")[1]


@pytest.mark.parametrize("text", ["Brass lamps", "How to clean a lamp?", "배송 비용", "退货和退款的流程"])
def test_names_of_more_than_one_word_name_something(text):
    assert tells_enough(text, "")


@pytest.mark.parametrize(
    "text",
    [
        "Overview",
        "The",
        "12.4",
        "-s --silent",
        "pg_type of pg_class",
        "AllowCONNECT port[-port]",
        "www.lantern.example",
        "a@b.example here",
        "x" * 300,
    ],
)
def test_single_words_numbers_and_addresses_name_nothing(text):
    assert not tells_enough(text, "")
