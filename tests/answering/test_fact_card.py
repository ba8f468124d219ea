"""Questions that the card of facts answers, and those that it leaves to the search."""

import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from server.answering.shortcuts.fact_card import FactCard
from server.answering.shortcuts.key_pages import KeyPages
from server.answering.understanding.fact_questions import fact_questions
from server.answering.writing.markup import answer_html
from server.domain.answer import Outcome
from server.domain.chunk import Chunk
from server.domain.derived import PageFacts
from server.domain.question import Question, Turn, VisitorPage
from server.domain.site import Site
from server.domain.site_fact import FactKind, SiteFact
from server.storage.content.content import ContentStore
from server.storage.content.page_facts import PageFactStore
from server.storage.content.reader import PageRecord
from server.storage.database import Database
from server.storage.sites.sites import SiteStore

HOME = "https://mill.example"
HOURS = "Monday\t18:30 - 21:00\nSunday\tClosed"
PAGES = {
    "/": f"Write to hi@mill.example.\n\nDay\tTimes\n{HOURS}",
    "/visit": "Mill Ltd\nUnit 3\nLeigh WN7 2LB",
    "/prices": "Ticket\tPrice\nDay pass\t£20\nFamily pass\t£62\nFamily\t£50",
    "/jobs": "We look for people who like old machines.",
    "/fair": "The Spring Fair opens on 3 May 2027 in the hall.",
    "/de": "Montag 18:30 bis 21:00 Uhr",
}
FACTS = [
    SiteFact("mail", FactKind.EMAIL, "", "hi@mill.example", f"{HOME}/", "hi@mill.example", "en", main=True),
    SiteFact("press", FactKind.EMAIL, "Press", "press@mill.example", f"{HOME}/", "", "en"),
    SiteFact("hours", FactKind.HOURS, "Opening times", "…", f"{HOME}/", HOURS, "en", main=True),
    SiteFact("stunden", FactKind.HOURS, "", "…", f"{HOME}/de", PAGES["/de"], "de", main=True),
    SiteFact("address", FactKind.ADDRESS, "", "…", f"{HOME}/visit", PAGES["/visit"], "en", main=True),
    SiteFact("day", FactKind.PRICE, "Day pass", "£20", f"{HOME}/prices", "Day pass\t£20", "en"),
    SiteFact("familypass", FactKind.PRICE, "Family pass", "£62", f"{HOME}/prices", "Family pass\t£62", "en"),
    SiteFact("family", FactKind.PRICE, "Family", "£50", f"{HOME}/prices", "Family\t£50", "en"),
    SiteFact("sponsors", FactKind.PRICE, "Extras: Childcare Sponsors", "£2,000", f"{HOME}/prices", "", "en"),
    SiteFact("jobs", FactKind.JOBS, "", "Jobs", f"{HOME}/jobs", PAGES["/jobs"], "en", main=True),
    SiteFact("fair", FactKind.EVENT, "Spring Fair", "3 May 2027", f"{HOME}/fair", PAGES["/fair"], "en"),
    SiteFact("gone", FactKind.PRIVACY, "", "Privacy", f"{HOME}/", "These words have left the page.", "en", main=True),
    SiteFact("tw", FactKind.SOCIAL, "Twitter", "https://x.com/mill", f"{HOME}/", "", "", main=True),
    SiteFact("li", FactKind.SOCIAL, "LinkedIn", "https://www.linkedin.com/company/mill", f"{HOME}/", "", "", main=True),
    SiteFact("li2", FactKind.SOCIAL, "LinkedIn", "https://www.linkedin.com/in/jane", f"{HOME}/jobs", "", ""),
    SiteFact("code", FactKind.SOCIAL, "GitHub", "https://github.com/mill", f"{HOME}/", "", "", main=True),
    SiteFact("hotline", FactKind.PHONE, "Poison hotline", "0800 1", f"{HOME}/visit", "", "en"),
]  # fmt: skip
TWITTER = "- [X](https://x.com/mill)"
LINKEDIN = "- [LinkedIn](https://www.linkedin.com/company/mill)"
ANSWERED = {
    "How do I email you?": "- hi@mill.example [1]",
    "whats the email": "- hi@mill.example [1]",
    "Can I get your email?": "- hi@mill.example [1]",
    "what email can i use pls": "- hi@mill.example [1]",
    "wheres ur office, street adress pls": "- Mill Ltd, Unit 3, Leigh WN7 2LB [1]",
    "what is your address?": "- Mill Ltd, Unit 3, Leigh WN7 2LB [1]",
    "Where is the Mill?": "- Mill Ltd, Unit 3, Leigh WN7 2LB [1]",
    "Are you open on Sunday?": "| Day | Times |\n| --- | --- |\n| Monday | 18:30 - 21:00 |\n| Sunday | Closed |\n\n[1]",
    "when do you open": "### Opening times\n\n| Day | Times |",
    "Do you have any jobs?": "- We look for people who like old machines. [1]\n\n[Jobs](<https://mill.example/jobs>)",
    "How much is a day pass?": "| Ticket | Price |\n| --- | --- |\n| Day pass | £20 |\n\n[1]",
    "how much does the family pass cost": "| Family pass | £62 |\n\n[1]",
    "When is the spring fair?": "- The Spring Fair opens on 3 May 2027 in the hall. [1]",
    "How can I contact you?": "- hi@mill.example [1]\n\n- Mill Ltd, Unit 3, Leigh WN7 2LB [2]",
    "are you on social media": f"{TWITTER}\n\n{LINKEDIN}\n\n- [GitHub](https://github.com/mill)",
    "what about your social media?": f"{TWITTER}\n\n{LINKEDIN}\n\n- [GitHub](https://github.com/mill)",
    "show me the social media accounts": f"{TWITTER}\n\n{LINKEDIN}\n\n- [GitHub](https://github.com/mill)",
    "how can I follow you?": f"{TWITTER}\n\n{LINKEDIN}\n\n- [GitHub](https://github.com/mill)",
    "are you on X?": TWITTER,
    "do u have a linkedin page": LINKEDIN,
    "linkedin": LINKEDIN,
    "where can i find you on twitter": TWITTER,
    "do you have linkedin?": LINKEDIN,
    "are you on facebook or linkedin too?": LINKEDIN,
    "e-mail address for the press?": "- press@mill.example",
    "phone number of the poison hotline": "- Poison hotline: 0800 1",
}
LEFT = [
    "do you have an instagram page",  # none is known
    "what is your social media policy?",
    "Do I need a GitHub account?",
    "github",  # a topic of many sites
    "x",
    "are you on time or on Instagram?",
    "what is social media?",
    "where can I find social media?",
    "show me social media",
    "what about social media?",
    "should I be on social media?",
    "do you do social media?",
    "are they on social media?",
    "What is your phone number?",  # only that of somebody else is known
    "opening hours of the library in May 2019?",
    "Are you open on bank holidays?",
    "are you open source?",
    "how much is it?",
    "How much is a pass?",  # two of them
    "what does childcare cost?",  # sponsors of childcare pay that
    "how much is a laser cutter?",
    "when is the autumn fair?",
    "When is it?",
    "privacy policy?",  # its page no longer says the words
    "Can I email you a photo of my lamp?",
    "Do I need to open an account?",
    "What is the billing address of an order?",
    "did you get the email that I sent",
    "what is the number of a lamp",
    "Where do I park?",
    "I changed my e-mail address, what now?",
    "what jobs did the mill have in 1900?",
    "Do you repair phones?",
    "Tell me about the mill",
    "your address " + "please " * 30,
]
GENERAL = {
    "en": ["What's your phone number?", "phone nr i can ring u on?", "what's ur number", "where are you", "opening hours?", "Could you please give me your address?", "privacy policy?", "is my data safe with you?", "what happens to my personal data", "phone number, if I have questions?", "Are you on social media?", "what are your socials?", "which social networks are you on", "where is my data stored?"],
    "de": ["Wie ist Ihre Telefonnummer?", "Wo seid ihr?", "Habt ihr heute offen?", "Wie ist eure E-Mail-Adresse?", "Gibt es offene Stellen?", "Sind meine Daten sicher?", "Welche Social-Media-Kanäle habt ihr?", "Wo kann man euch folgen?"],
    "es": ["¿Cuál es su número de teléfono?", "¿Dónde estáis ubicados?", "¿Dónde está?", "¿A qué hora abren?", "¿Cuál es su correo electrónico?", "¿Tenéis redes sociales?"],
    "fr": ["Quel est votre numéro de téléphone ?", "Où êtes-vous ?", "Quels sont vos horaires d'ouverture ?", "Comment vous contacter ?", "Êtes-vous sur les réseaux sociaux ?"],
    "pt": ["Qual é o número de telefone?", "Onde vocês ficam?", "A que horas vocês abrem?", "Vocês têm vagas?", "Vocês têm redes sociais?"],
    "ru": ["Какой у вас номер телефона?", "Где вы находитесь?", "Часы работы", "Есть ли у вас вакансии?", "Вы есть в соцсетях?"],
    "zh": ["你们的电话号码是多少？", "你们在哪里？", "营业时间是什么？", "隐私政策", "你们有社交媒体吗？"],
    "ja": ["電話番号は何ですか？", "住所を教えてください", "営業時間は？", "採用情報はありますか？", "SNSはありますか？"],
    "ko": ["전화번호가 뭐예요?", "주소가 어디예요?", "영업시간이 어떻게 되나요?", "개인정보 처리방침", "SNS 있나요?"],
    "ar": ["ما هو رقم الهاتف؟", "أين أنتم؟", "ما هي ساعات العمل؟", "هل لديكم وظائف؟", "هل أنتم على وسائل التواصل الاجتماعي؟"],
}  # fmt: skip


@pytest.fixture
def site():
    return Site("mill", "mill.example", "The Mill", (f"{HOME}/",), language="en")


@pytest.fixture
def content(tmp_path, site, migrated_sqlite):
    shutil.copyfile(migrated_sqlite, tmp_path / "docent.sqlite3")
    database = Database(f"sqlite:///{tmp_path}/docent.sqlite3")
    SiteStore(database).create(site)
    content = ContentStore(database, "mill")
    for path, text in PAGES.items():
        chunk = Chunk(path, HOME + path, path.strip("/").title() or "The Mill", (), text, 0, "en")
        record = PageRecord(chunk.url, chunk.title, "en", path, "", "", 0, datetime.now(UTC))
        content.put_page(record, [chunk], [])
    content.go_live()
    yield content
    database.close()


@pytest.fixture
def ask(site, content):
    key_pages = KeyPages(site, content.live, str, "https://docent.example")

    def answer(text, language="en", facts=FACTS, **asked):
        card = FactCard(site, lambda: facts, key_pages, frozenset({HOME}), content.live.page_text)
        return card.answer(Question(text, "mill", language=language, **asked))

    return answer


@pytest.mark.parametrize("text", ANSWERED)
def test_the_card_answers_with_the_words_of_the_page(ask, text):
    answer = ask(text)
    assert answer.outcome is Outcome.ANSWERED
    assert ANSWERED[text] in answer.text
    assert all(citation.link.startswith(f"{citation.url}#:~:text=") for citation in answer.citations)


@pytest.mark.parametrize("text", LEFT)
def test_what_the_card_does_not_say_is_left_to_the_search(ask, text):
    assert ask(text) is None


@pytest.mark.parametrize(("language", "text"), [(code, text) for code in GENERAL for text in GENERAL[code]])
def test_general_questions_are_recognised_in_ten_languages(language, text):
    first = next(fact_questions(text, [language, "en"]))
    assert first.rest == frozenset()


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Seid ihr auf LinkedIn?"),
        ("de", "habt ihr eine LinkedIn-Seite"),
        ("de", "Wo finde ich euch auf LinkedIn?"),
        ("de", "eure LinkedInseite"),
        ("es", "¿Estáis en LinkedIn?"),
        ("fr", "Êtes-vous sur LinkedIn ?"),
        ("fr", "votre page LinkedIn"),
        ("pt", "Vocês estão no LinkedIn?"),
        ("pt", "qual o linkedin de vocês?"),
        ("zh", "你们有LinkedIn吗"),
        ("zh", "你们在LinkedIn上吗？"),
        ("ja", "LinkedInはありますか"),
        ("ja", "LinkedInをやっていますか？"),
        ("ko", "LinkedIn 있나요"),
        ("ar", "حسابكم على LinkedIn"),
        ("ar", "هل لديكم حساب على LinkedIn؟"),
        ("ru", "Вы есть в LinkedIn?"),
        ("ru", "У вас есть LinkedIn?"),
    ],
)
def test_a_profile_is_asked_for_by_the_name_of_its_network(ask, language, text):
    answer = ask(text, language)
    assert answer.text == LINKEDIN
    assert answer.pages == (("https://www.linkedin.com/company/mill", "LinkedIn"),), "else it is no link"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Was sind soziale Netzwerke?"),
        ("de", "Brauche ich Social Media?"),
        ("fr", "Pourquoi les réseaux sociaux ?"),
        ("es", "¿Qué son las redes sociales?"),
        ("pt", "O que são redes sociais?"),
        ("ru", "Почему соцсети?"),
        ("zh", "什么是社交媒体？"),
        ("zh", "社交媒体是什么？"),
        ("zh", "社交媒体有哪些？"),
        ("ja", "なぜSNS？"),
        ("ko", "SNS가 뭐예요?"),
        ("ar", "ما هي وسائل التواصل الاجتماعي؟"),
    ],
)
def test_questions_about_social_networks_themselves_are_left_to_the_search(ask, language, text):
    assert ask(text, language) is None


def test_the_name_of_a_network_alone_asks_for_no_profile_when_something_was_said_before(ask):
    history = (Turn("How can I log in?", "With LinkedIn or an e-mail address."),)
    for alone in ("LinkedIn", "LinkedIn account?", "LinkedIn or Google?"):
        assert ask(alone, history=history) is None
    asked = {
        "en": "are you on LinkedIn?",
        "ko": "LinkedIn 계정이 있나요?",
        "ja": "LinkedInはありますか？",
        "pt": "LinkedIn de vocês?",
    }
    for language, text in asked.items():
        assert ask(text, language, history=history).text == LINKEDIN


@pytest.mark.parametrize(
    ("label", "value", "expected"),
    [
        ("", "www.instagram.com/mill", "[Instagram](https://www.instagram.com/mill)"),
        ("Our Instagram", "https://instagram.com/mill", "[Instagram](https://instagram.com/mill)"),
        ("Instagram", "@mill", "- Instagram: @mill"),
    ],
)
def test_a_profile_that_an_operator_added_is_known_by_its_address_or_by_its_label(
    ask, label, value, expected
):
    added = SiteFact("own", FactKind.SOCIAL, label, value, "", added=True)
    assert expected in ask("are you on Instagram?", facts=[*FACTS, added]).text
    assert expected in ask("are you on social media?", facts=[*FACTS, added]).text


def test_a_corrected_profile_is_on_the_network_of_the_new_address(ask):
    moved = [replace(fact, own_value="https://bsky.app/profile/mill") for fact in FACTS if fact.id == "tw"]
    assert ask("are you on Bluesky?", facts=moved).text == "- [Bluesky](https://bsky.app/profile/mill)"
    assert ask("are you on X?", facts=moved) is None


@pytest.mark.parametrize(
    "address", ["https://www.youtube.com/@müller", 'HTTPS://vk.com/музей"', "https://x.com/a(>)[b](c)"]
)
def test_a_profile_is_a_link_whatever_its_address(ask, address):
    answer = ask("social media", facts=[SiteFact("one", FactKind.SOCIAL, "", address, "", added=True)])
    links = re.findall('<a href="([^"]+)"', answer_html(answer))
    assert len(links) == 1, "one link and nothing else"
    assert links[0].isascii()


def test_what_is_no_web_address_is_no_link(ask):
    added = SiteFact("one", FactKind.SOCIAL, "X", "javascript://x.com/%0aalert(1)", "", added=True)
    answer = ask("are you on X?", facts=[added])
    assert "href" not in answer_html(answer)


def test_a_fact_in_the_visitors_language_comes_first(ask):
    answer = ask("Habt ihr heute offen?", "de")
    assert "Montag 18:30 bis 21:00 Uhr" in answer.text
    assert not answer.text.startswith("The site says")
    assert "18:30 - 21:00" in ask("Какой у вас режим работы?", "ru").text


@pytest.mark.parametrize("address", ["https://help.example/ask", "https://help.example/form?f[]=1"])
def test_without_contact_data_the_link_to_a_contact_page_elsewhere_is_given(ask, content, address):
    store = PageFactStore(content._db, "mill")
    store.put({f"{HOME}/": PageFacts(links=((address, "Contact us"),))})
    answer = ask("how can I contact you?", facts=[])
    assert answer.outcome is Outcome.ANSWERED
    assert '<a href="https://help.example/' in answer_html(answer)
    assert ask("how can I contact you about a broken lamp?", facts=[]) is None
    assert "help.example" not in ask("how can I contact you?").text


def test_a_contact_page_of_the_site_itself_is_searched(ask, content):
    PageFactStore(content._db, "mill").put(
        {f"{HOME}/": PageFacts(links=(("https://help.example/ask", "Contact us"),))}
    )
    page = Chunk("/contact", f"{HOME}/contact", "Contact", (), "Come and see us.", 0, "en")
    content.put_page(PageRecord(page.url, page.title, "en", "c", "", "", 0, datetime.now(UTC)), [page], [])
    content.go_live()
    assert ask("how can I contact you?", facts=[]) is None


def test_what_an_operator_wrote_is_given_without_a_quote(ask):
    own = [replace(FACTS[0], own_value="desk@mill.example")]
    answer = ask("your e-mail address?", facts=own)
    assert "desk@mill.example" in answer.text
    assert (answer.citations, answer.pages) == ((), ((f"{HOME}/", "The Mill"),))
    assert "hi@mill.example" not in answer.text
    assert "The site says" not in answer.text


def test_a_page_of_another_website_is_a_link_with_its_words(ask):
    away = SiteFact("away", FactKind.JOBS, "", "Careers", "https://jobs.example/mill", "", "en", main=True)
    answer = ask("are you hiring?", facts=[away])
    assert answer.text == "[Careers](<https://jobs.example/mill>)"
    assert answer.pages == (("https://jobs.example/mill", "Careers"),)


def test_hidden_facts_are_not_given(ask):
    assert ask("your e-mail address?", facts=[replace(FACTS[0], hidden=True)]) is None


def test_on_the_site_of_an_event_it_is_not_the_office(ask, site, content):
    key_pages = KeyPages(site, content.live, str, "https://docent.example")
    fair = replace(site, title="Spring Fair 2027")
    card = FactCard(fair, lambda: FACTS, key_pages, frozenset({HOME}), content.live.page_text)
    for text, spoken in (("where is it?", "en"), ("where are you", "en"), ("Wo ist es?", "de")):
        assert card.answer(Question(text, "mill", language=spoken)) is None
    assert card.answer(Question("what is your address?", "mill", language="en")) is not None
    assert ask("where is it?") is not None, "on another site"


def test_a_question_about_what_was_said_before_or_about_a_page_is_left(ask):
    turns = (Turn("Who repairs lamps?", "Ada's workshop does."),)
    assert ask("How do I email you?", history=turns) is not None
    assert ask("what are their opening hours?", history=turns) is None
    assert ask("How do I email you?", page=VisitorPage(f"{HOME}/fair")) is None
