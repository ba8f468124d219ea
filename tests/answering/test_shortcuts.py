"""What is answered before anything is retrieved, on the indexed shop."""

import shutil
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from server.answering.shortcuts.fact_card import FactCard
from server.answering.shortcuts.handoff import Handoff
from server.answering.shortcuts.key_pages import KeyPages
from server.answering.shortcuts.overview import Overview
from server.answering.shortcuts.small_talk import SmallTalk
from server.answering.writing.markup import answer_html
from server.domain.answer import Outcome
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.derived import PageFacts
from server.domain.question import Query, Question, Turn
from server.domain.site import Site
from server.domain.site_fact import FactKind, SiteFact
from server.storage.content.content import ContentStore
from server.storage.content.page_facts import PageFactStore
from server.storage.content.reader import PageRecord
from server.storage.database import Database
from server.storage.sites.sites import SiteStore

HOME = "https://lantern.example"
PAGES = {
    "/": ("Lantern Shop", "© 2026 Lantern Shop. All rights reserved.\n\nLantern Shop sells lamps made by hand in our own workshop. "
          "We have repaired and built lamps since 1987.", "en"),
    "/delivery": ("Delivery | Lantern Shop", "Parcels arrive within two working days.", "en"),
    "/contact": ("Contact us", "We like to hear from you.\n\nWrite to help@lantern.example or call +44 20 7946 0000.", "en"),
    "/de/kontakt-formular-alt": ("Lampen", "Hier stehen Lampen.", "de"),
}  # fmt: skip


@pytest.fixture
def site(tmp_path):
    return Site(
        "shop",
        "shop",
        "Lantern Shop",
        (f"{HOME}/",),
        language="en",
        options={"suggestions": ["Delivery", "Returns", "Lamps", "Jobs"]},
    )


@pytest.fixture
def content(tmp_path, site, migrated_sqlite):
    shutil.copyfile(migrated_sqlite, tmp_path / "docent.sqlite3")
    database = Database(f"sqlite:///{tmp_path}/docent.sqlite3")
    SiteStore(database).create(site)
    content = ContentStore(database, "shop")
    for path, (title, text, language) in PAGES.items():
        chunk = Chunk(path, HOME + path, title, (), text, 0, language)
        content.put_page(
            PageRecord(chunk.url, title, language, path, "", "", 0, datetime.now(UTC)), [chunk], []
        )
    content.go_live()
    yield content
    database.close()


def made(kind, site, content):
    text = lambda url: "\n\n".join(chunk.text for chunk in content.live.page(url))  # noqa: E731
    return kind(site, KeyPages(site, content.live, str, "https://docent.example"), frozenset({HOME}), text)


def ask(shortcut, text, language="en"):
    return shortcut.answer(Question(text, "shop", (), language))


def test_a_greeting_names_the_site_and_offers_three_questions(site):
    answer = ask(SmallTalk(site), "Hi!")
    assert answer.outcome is Outcome.ANSWERED
    assert "Lantern Shop" in answer.text
    assert answer.suggestions == ("Delivery", "Returns", "Lamps")
    assert answer.citations == ()


@pytest.mark.parametrize(
    ("text", "start"),
    [("Hallo", "Hallo"), ("Hola", "¡Hola"), ("你好", "您好"), ("مرحبا", "مرحب"), ("Привет", "Здравствуйте")],
)
def test_a_greeting_is_answered_in_the_visitors_language(site, text, start):
    assert ask(SmallTalk(site), text, "en").text.startswith(start)


def test_asked_what_it_is_it_says_that_it_is_a_program(site):
    assert "computer program" in ask(SmallTalk(site), "Are you human?").text


def test_a_question_after_a_greeting_is_left_to_the_pages(site):
    assert ask(SmallTalk(site), "Hello, how long does delivery take?") is None


def test_a_goodbye_offers_nothing_more(site):
    assert ask(SmallTalk(site), "Bye!").suggestions == ()


def test_the_question_what_a_site_is_about_is_answered_from_its_start_page_with_proof(site, content):
    answer = ask(made(Overview, site, content), "What is this site about?")
    assert answer.outcome is Outcome.ANSWERED
    assert answer.citations[0].quote == "Lantern Shop sells lamps made by hand in our own workshop."
    assert answer.citations[0].link.startswith(f"{HOME}/#:~:text=")
    assert "rights reserved" not in answer.text
    assert f"[Delivery](<{HOME}/delivery>)" in answer.text


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("Lantern Shop", "The Lantern Shop (LS) is a workshop that makes lamps by hand."),
        ("Lantern's", "Lantern’s ist eine Werkstatt, in der Lampen von Hand entstehen."),
        ("提灯屋", "提灯屋は手作りのランプを販売する小さなお店です。"),
        ("Lantern Shop", "Lantern Shop is an editor for drawings of lamps that runs in your browser."),
        ("Lichtbund", "Lichtbund ist ein Verband, in dem sich vierzig Vereine zusammengeschlossen haben."),
        ("La Llave", "La Llave es una empresa de cerraduras para puertas que nunca están cerradas."),
    ],
)
def test_an_overview_begins_with_the_sentence_that_says_what_the_site_is(site, content, title, said):
    news = f"{title} is preparing its lamps for the long nights of the winter. A new lamp came in last week."
    for path, name, text in (
        ("/", title, news),
        ("/about", "About us", f"{news} {said} It is in the old mill."),
    ):
        url = HOME + path
        page = PageRecord(url, name, "en", text, "", "", 0, datetime.now(UTC))
        content.put_page(page, [Chunk(f"about {path}", url, name, (), text, 0, "en")], [])
    content.go_live()
    answer = ask(made(Overview, replace(site, title=title), content), "What is this site about?")
    assert answer.citations[0].quote == said


def put_start_page(content, *texts):
    page = PageRecord(f"{HOME}/", "Lantern Shop", "en", "new", "", "", 0, datetime.now(UTC))
    chunks = [
        Chunk(str(place), page.url, page.title, (), text, place, "en") for place, text in enumerate(texts)
    ]
    content.put_page(page, chunks, content.chunk_ids(page.url))
    content.go_live()


@pytest.mark.parametrize(
    "said",
    [
        "We help people who like old lamps to mend them.",
        "We sell lamps that are made by hand in the mill.",
        "I am a maker of lamps who lives in this town.",
        "Lantern Shop has lamps for every room of the house.",
        "Our mission is light for everybody in this town.",
        "It is run by volunteers from all over the country.",
        "Lantern Shop keeps your data safe on its own servers in Iceland.",
        "It’s run by volunteers from all over the country, like us.",
        "“Lantern Shop” offers courses in mending lamps to everybody in town.",
        "Wir sind Ihr Partner für Lampen und Licht in ganz Bayern.",
        "Nous sommes l’agence des lampes de la ville de Nantes.",
        "Wir bieten Lampen für jedes Zimmer an.",
        "Nous proposons des lampes pour toutes les pièces.",
        "Ofrecemos lámparas para todas las habitaciones.",
        "Oferecemos candeeiros para todas as salas.",
        "Мы помогаем людям чинить старые лампы дома.",
        "我们致力于为每一个人提供手工制作的灯具和服务。",
        "当店は手作りのランプを販売する小さなお店でございます。",
        "저희는 사람들이 오래된 램프를 고치도록 돕고 있습니다.",
        "نحن نقدم المصابيح لكل الغرف في البيت.",
    ],
)
def test_without_a_definition_an_overview_begins_where_the_site_speaks_of_itself(site, content, said):
    put_start_page(content, "A new lamp arrived in the window last week.", said)
    answer = ask(made(Overview, site, content), "What is this site about?")
    assert [citation.quote for citation in answer.citations] == [said]


@pytest.mark.parametrize(
    "said",
    [
        "“We help people who like old lamps to mend them”, says Peter.",
        "“Lantern Shop changed my life for ever and a day”, says Peter.",
        "We offer jobs and are hiring menders of old lamps in town.",
        "We build our pages for new browsers, so please install one.",
        "We use reCAPTCHA, and we provide its rules on another page.",
        "We care about your privacy and about how your data is used.",
        "We are committed to protecting your privacy on all our pages.",
        "We provide this notice to explain how we use your data here.",
        "“We help people who mend lamps.”",
        "”We help people who mend lamps.”",
        "‹We help people who mend lamps.›",
        "The company was fined last year for a leak of lamp oil.",
        "We serve lunch from noon to two on all days except Monday.",
        "Wir bieten ein gutes Gehalt und viele Lampen in der Werkstatt.",
        "The workshop on Friday was led by Jane Doe from the town.",
        "We offer a competitive salary, free lunch and many lamps.",
        "We work from nine to five on all days except on Sunday.",
        "This site is protected by reCAPTCHA and its rules apply.",
        "Lantern Shop will be closed on Monday because of a strike.",
        "Many people have asked in this long winter what Lantern Shop does.",
        "Wir sind am Montag wegen der Inventur nicht geöffnet.",
        "Nous sommes fermés le lundi et le mardi toute la journée.",
    ],
)
def test_news_notices_and_what_others_say_do_not_describe_the_site(site, content, said):
    put_start_page(content, said)
    assert ask(made(Overview, site, content), "What is this site about?").citations == ()


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("ACT", "Contact us if you have lost the key of your lamp."),
        ("Haus", "Hausärzte bieten am Montag eine Sprechstunde im Dorf an."),
        ("Müll", "Müllöfen werden am Montag in der ganzen Stadt gereinigt."),
        ("Лампа", "Лампада стоит в углу большой комнаты у окна."),
        ("Mill", "“That’s why we help people to mend their old lamps”, says Peter."),
        ("The Mill", "“The Mill’s staff were great and cured my old lamp at once.”"),
        ("The Royal Association of Lamp Menders", "“We help people who mend lamps.”"),
    ],
)
def test_a_site_is_not_named_by_a_part_of_a_word(site, content, title, said):
    put_start_page(content, said)
    overview = made(Overview, replace(site, title=title), content)
    assert ask(overview, "What is this site about?").citations == ()


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("’t Hof", "’t Hof helpt mensen uit de hele stad met oude lampen."),
        ("Weißer Hof", "„Weißer Hof“ liegt mitten im Dorf und hat viele Zimmer."),
        ("Weißer Hof", "‚Weißer Hof‘ liegt mitten im Dorf und hat viele Zimmer."),
        ("Le Moulin", "« Le Moulin » aide toute la ville avec les vieilles lampes."),
        ("Museum ’t Hof", "’t Museum ’t Hof helpt mensen uit de hele stad met lampen."),
    ],
)
def test_the_name_of_a_site_may_begin_with_a_sign_or_be_between_signs(site, content, title, said):
    put_start_page(content, said)
    overview = made(Overview, replace(site, title=title), content)
    assert [one.quote for one in ask(overview, "What is this site about?").citations] == [said]


def test_what_says_nothing_of_the_site_is_no_overview_and_the_main_pages_are_named(site, content):
    put_start_page(content, "A new lamp arrived in the window last week. It is now seen by many people.")
    topics = {"topics": [["Repairs", f"{HOME}/repairs"], ["Prices", ""]]}
    answer = ask(made(Overview, replace(site, options=topics), content), "What is this site?")
    assert answer.outcome is Outcome.ANSWERED
    assert "new lamp" not in answer.text
    assert f"- [Repairs](<{HOME}/repairs>)" in answer.text
    assert answer.pages == ((f"{HOME}/repairs", "Repairs"),)
    assert f"[Delivery](<{HOME}/delivery>)" in ask(made(Overview, site, content), "What is this site?").text


def test_the_main_pages_do_not_say_who_is_behind_a_site(site, content):
    overview = replace(made(Overview, site, content), asked=lambda message, question: True)
    assert "made by hand" in ask(overview, "who runs this site?").text
    put_start_page(content, "A new lamp arrived in the window last week. It is now seen by many people.")
    assert ask(replace(made(Overview, site, content), asked=overview.asked), "who runs this site?") is None


def test_an_overview_leaves_out_what_another_section_says_after_that_sentence(site, content):
    said = "Lantern Shop is a workshop that makes lamps by hand.", "We wrote this post on a rainy day in May."
    put_start_page(content, *said)
    answer = ask(made(Overview, site, content), "What is this site about?")
    assert [citation.quote for citation in answer.citations] == [said[0]]


def test_an_overview_speaks_the_visitors_language_around_the_sites_words(site, content):
    answer = ask(made(Overview, site, content), "Worum geht es hier?", "de")
    assert "über sich selbst" in answer.text
    assert "made by hand" in answer.text


def test_without_a_page_that_says_so_the_site_is_not_described(site, content):
    assert (
        ask(
            made(Overview, replace(site, start_urls=()), ContentStore(content._db, "none")),
            "What is this about?",
        )
        is None
    )


def test_who_wants_a_person_is_told_where_the_site_can_be_reached(site, content):
    answer = ask(made(Handoff, site, content), "I want to talk to a human")
    assert answer.outcome is Outcome.HANDOFF
    assert "help@lantern.example" in answer.citations[0].quote
    assert answer.citations[0].url == f"{HOME}/contact"


def test_without_a_contact_page_nothing_is_made_up(site, content):
    content.remove_page(f"{HOME}/contact")
    content.go_live()
    answer = ask(made(Handoff, site, content), "Ich möchte mit einem Menschen sprechen", "de")
    assert answer.outcome is Outcome.HANDOFF
    assert answer.citations == ()
    assert "keine Seite zum Kontakt" in answer.text


def with_contact(site, **contact):
    return replace(site, options={**site.options, "contact": contact})


@pytest.mark.parametrize(
    ("language", "wish", "offered"),
    [
        ("en", "I want to talk to a human", "You can leave a message right here"),
        ("de", "Ich möchte mit einem Menschen sprechen", "gleich hier eine Nachricht hinterlassen"),
    ],
)
def test_where_messages_are_taken_who_wants_a_person_is_told_to_leave_one(
    site, content, language, wish, offered
):
    answer = ask(made(Handoff, with_contact(site, email="people@lantern.example"), content), wish, language)
    assert answer.outcome is Outcome.HANDOFF
    assert offered in answer.text
    assert "help@lantern.example" in answer.text  # what the site says itself is told all the same


def test_where_no_messages_are_taken_none_is_offered(site, content):
    only_link = with_contact(site, link="https://lantern.example/contact", hours="Mo-Fr 09:00-17:00")
    assert "leave a message" not in ask(made(Handoff, only_link, content), "I want to talk to a human").text


def test_the_contact_page_of_the_settings_counts_more_than_one_that_was_found(site, content):
    address = "https://lantern.example/write-to-us"
    wish = "I want to talk to a human"
    answer = ask(
        made(Handoff, with_contact(site, email="people@lantern.example", link=address), content), wish
    )
    assert (f"(<{address}>)" in answer.text, answer.pages) == (True, ((address, address),))
    assert f'href="{address}"' in answer_html(answer)
    assert answer.citations == ()
    read = with_contact(site, email="people@lantern.example", link=f"{HOME}/contact")
    assert "help@lantern.example" in ask(made(Handoff, read, content), wish).citations[0].quote


def test_a_link_that_is_no_web_address_is_not_shown(site, content):
    hostile = with_contact(site, email="people@lantern.example", link="javascript:alert(1)")
    assert "javascript" not in ask(made(Handoff, hostile, content), "I want to talk to a human").text


def test_who_can_leave_a_message_is_told_no_lines_that_lead_nowhere(site, content):
    content.remove_page(f"{HOME}/contact")
    content.go_live()
    wish = "I want to talk to a human"
    answer = ask(made(Handoff, with_contact(site, email="people@lantern.example"), content), wish)
    assert "I did not find a page" not in answer.text
    chunk = Chunk("empty", f"{HOME}/contact", "Contact us", (), "We like to hear from you.", 0, "en")
    content.put_page(
        PageRecord(chunk.url, "Contact us", "en", "h", "", "", 0, datetime.now(UTC)), [chunk], []
    )
    content.go_live()
    answer = ask(made(Handoff, with_contact(site, email="people@lantern.example"), content), wish)
    assert f"[Contact us](<{HOME}/contact>)" in answer.text
    assert "We like to hear" not in answer.text
    assert "We like to hear" in ask(made(Handoff, site, content), wish).text


def test_a_question_that_only_names_a_person_is_no_wish_to_talk_to_one(site, content):
    assert ask(made(Handoff, site, content), "Which person signs the contract?") is None


def test_an_insult_is_met_calmly_and_never_with_the_pages(site, content):
    answer = ask(SmallTalk(site), "you are a stupid bot")
    assert (answer.outcome, answer.citations) == (Outcome.ANSWERED, ())
    assert "sorry" in answer.text


def test_gibberish_is_asked_about_unless_the_site_uses_the_word(site):
    assert "could not make sense" in ask(SmallTalk(site), "vsnprintf").text
    known = SmallTalk(site, lambda words: dict.fromkeys(words, 2))
    assert ask(known, "vsnprintf") is None


def test_an_emergency_names_the_emergency_number_before_the_contact_page(site, content):
    answer = ask(made(Handoff, site, content), "There is a fire in my kitchen!")
    assert answer.outcome is Outcome.HANDOFF
    assert answer.text.index("emergency number") < answer.text.index("help@lantern.example")


def test_a_complaint_about_the_service_gets_kind_words_and_a_person(site, content):
    answer = ask(made(Handoff, site, content), "My parcel never arrived and I am furious")
    assert answer.outcome is Outcome.HANDOFF
    assert answer.text.startswith("I am sorry to hear that.")
    assert "help@lantern.example" in answer.text


@pytest.fixture
def no_contact_page(site, migrated_sqlite, tmp_path):
    """Return a function that makes a Handoff for a site of one page, with links and facts."""
    shutil.copyfile(migrated_sqlite, tmp_path / "small.sqlite3")
    database = Database(f"sqlite:///{tmp_path}/small.sqlite3")
    SiteStore(database).create(site)
    content = ContentStore(database, "shop")

    def handoff(links=(), facts=()):
        PageFactStore(database, "shop").put({f"{HOME}/": PageFacts(links=links)})
        chunk = Chunk("home", f"{HOME}/", "Lamps", (), "We sell lamps. Write to hi@lantern.example.", 0, "en")
        record = PageRecord(chunk.url, "Lamps", "en", "home", "", "", 0, datetime.now(UTC))
        content.put_page(record, [chunk], [])
        content.go_live()
        pages = KeyPages(site, content.live, str, "https://docent.example")
        rest = (pages, frozenset({HOME}), content.live.page_text)
        return Handoff(site, *rest, card=FactCard(site, lambda: facts, *rest))

    yield handoff
    database.close()


def test_without_a_contact_page_the_known_address_is_given(no_contact_page):
    mail = "hi@lantern.example"
    handoff = no_contact_page(
        facts=[SiteFact("m", FactKind.EMAIL, "", mail, f"{HOME}/", mail, "en", main=True)]
    )
    answer = ask(handoff, "I want to talk to a person")
    assert answer.outcome is Outcome.HANDOFF
    assert f"- {mail} [1]" in answer.text
    assert "did not find" not in answer.text
    assert [cited.quote for cited in answer.citations] == [mail]
    assert handoff.person("en") == (f"Lantern Shop: {mail}", None), "for the end of a refusal"


def test_without_a_contact_page_a_link_of_that_name_is_followed_even_to_another_website(no_contact_page):
    links = (("https://lenses.example/", "Contact lenses"), ("https://help.example/ask", "Contact us"))
    answer = ask(no_contact_page(links), "I want to talk to a person")
    assert "[Contact us](<https://help.example/ask>)" in answer.text
    assert ("https://help.example/ask", "Contact us") in answer.pages


def test_a_site_that_says_nothing_about_contact_gets_no_line(no_contact_page):
    handoff = no_contact_page()
    assert "did not find a page about getting in touch" in ask(handoff, "I want to talk to a person").text
    assert handoff.person("en") == ("", None)


def complaining(site, content, said):
    text = lambda url: "\n\n".join(chunk.text for chunk in content.live.page(url))  # noqa: E731
    found = [
        ScoredChunk(chunk, 1.0) for path in ("/delivery", "/") for chunk in content.live.page(HOME + path)
    ]
    pages = KeyPages(site, content.live, str, "https://docent.example")
    handoff = Handoff(site, pages, frozenset({HOME}), text, lambda query: found)
    history = (Turn("When does it come?", said, "when does it come", "en"),)
    return handoff.answer(Question("that didn't help", "shop", history, "en")).text


def test_a_complaint_about_an_answer_offers_the_sections_that_the_answer_did_not_show(site, content):
    text = complaining(site, content, "Parcels arrive within two working days. [1]")
    assert "in other words" in text
    assert f"(<{HOME}/>)" in text
    assert f"(<{HOME}/delivery>)" not in text


@pytest.mark.parametrize(
    ("text", "searched"),
    [
        ("the neighbours get my parcels, who do i write to", ["the neighbours get my parcels"]),
        ("I want to talk to a person about broken parcels", ["about broken parcels"]),
        ("I want to talk to a person", []),
        ("who can I talk to", []),
    ],
)
def test_who_wants_a_person_for_something_sees_where_the_site_says_more_of_it(site, content, text, searched):
    said: list[str] = []

    def search(query: Query) -> list[ScoredChunk]:
        said.append(query.text)
        return [ScoredChunk(chunk, 1.0) for chunk in content.live.page(HOME + "/delivery")]

    pages = KeyPages(site, content.live, str, "https://docent.example")
    answer = Handoff(site, pages, frozenset({HOME}), str, search).answer(Question(text, "shop", (), "en"))
    assert answer.outcome is Outcome.HANDOFF
    assert (said, f"(<{HOME}/delivery>)" in answer.text) == (searched, bool(searched))


def test_after_an_answer_in_other_words_the_best_section_counts_as_shown(site, content):
    text = complaining(site, content, "It takes two days.")
    assert (f"(<{HOME}/delivery>)" in text, f"(<{HOME}/>)" in text) == (False, True)
