"""What kind of fact a question asks for, and which texts contain one."""

import time

import pytest

from server.answering.answer_kinds import expected_facts, lacks_requested_fact, requested_facts
from server.answering.writing.evidence import Evidence
from server.answering.writing.units import units
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Query
from server.retrieval.rarity import Rarity
from tests.equal_words import EqualWords


@pytest.mark.parametrize(
    "question",
    [
        "who is the chair",
        "whos the ceo",
        "names of all founders",
        "Wer leitet den Verein?",
        "Qui est le trésorier ?",
        "¿Quién organiza la feria?",
    ],
)
@pytest.mark.parametrize(
    ("text", "is_name"),
    [
        ("Write to the coordinators Jane Fox or Steph Price.", True),
        ("- Chair: LESLIE J. HART, Mill College", True),
        ("Ludwig van der Meer keeps the keys.", True),
        ("The Steering Committee meets in May.", False),
        ("Read our Code of Conduct.", False),
        ("the chair is elected every year", False),
    ],
)  # fmt: skip
def test_who_is_asked_for_is_a_name(question, text, is_name):
    [name] = expected_facts(question)
    assert bool(name.search(text)) is is_name


@pytest.mark.parametrize(
    "question",
    ["who can I ask", "who may join", "who is this for", "wer darf mitmachen", "what is the chair made of"],
)
def test_who_may_do_something_is_no_question_for_a_name(question):
    assert not any(fact.search("Jane Fox") for fact in expected_facts(question))


@pytest.mark.parametrize(
    "question",
    [
        *(
            "Wie kann ich meine E-Mail-Adresse ändern?",
            "wie ist die Mail-Liste organisiert",
            "wie viel Zahlen hat sie",
        ),
        *("unter welcher Nummer finde ich das Protokoll", "où acheter un couteau", "c'est combien de temps"),
        *(
            "comment changer mon adresse mail",
            "quel numéro de TVA faut-il composer",
            "quel e-mail confirme ma place",
        ),
        *("cuál es el número de socios", "qué número de cuenta uso para donar", "qué playas hay en la costa"),
        *("qué correo recibiré después", "When is the fair in Costa Rica?", "dove si trova la costa"),
        *(
            "Wat kost de meeste tijd?",
            "gibt es vegetarische Kost",
            "wie won de prijs",
            "qual é o telefone mais usado",
        ),
        *(
            "Wie tausche ich die Mail-Adresse für den Newsletter aus?",
            "an welche Mail-Adresse kommt das Ticket",
        ),
        "Kann ich die Mail-Adresse für Rechnungen wechseln?",
        *("Puis-je corriger l'adresse e-mail de mon compte ?", "Faut-il une adresse mail pour le compte ?"),
        *("numéro de télécopie", "Quel est le numéro de téléchargement ?", "a qué correo llega la entrada"),
        "¿Cuál es el teléfono móvil más compatible con la app?",
        *("How do I change the email address of my account?", "can I use another email address"),
        *("do I need to verify my phone number", "can I order without a phone number"),
        *(
            "Do I need an email address to sign up?",
            "I forgot my email address",
            "is my email address shared",
        ),
        *("why do you need my phone number", "Wie ändere ich meine Telefonnummer?"),
        *("comment changer mon numéro de téléphone", "¿Cómo cambio mi número de teléfono?"),
        *("メールアドレスの変更方法", "كيف أغير البريد الإلكتروني", "как сменить адрес почты"),
    ],
)
def test_a_question_about_something_else_asks_for_no_price_number_or_address(question):
    assert not requested_facts(question)


@pytest.mark.parametrize(
    "text",
    [
        *("Taxis: Tlf 984700000", "Call +44 20 7946 0000", "phone: 555123456", "📞 655400365"),
        *("Teléfono: 655400365", "Telefon 655400365", "Téléphone : 655400365", "Tel.: 655 40 03 65"),
    ],
)
def test_a_phone_number_is_known_by_its_form_or_by_what_is_before_it(text):
    assert not lacks_requested_fact("what is the phone number", text)
    assert lacks_requested_fact("what is the phone number", "Lot 984700000")


@pytest.mark.parametrize(
    "text",
    ["info@mill.example", "info [at] mill [dot] example", "info[at]mill.example", "info (at) mill.example"],
)
def test_an_email_address_is_known_also_as_it_is_written_to_hide_it(text):
    assert not lacks_requested_fact("what is your email address", f"Write to {text}")
    assert lacks_requested_fact("what is your email address", "Meet us [at the mill] or @mill")


@pytest.mark.parametrize(
    "question",
    [
        *("who do i write to", "someone was rude, where can i report that", "who to call"),
        *("an wen wende ich mich bei fragen", "wem kann ich schreiben", "wo kann ich das melden"),
        *("à qui je peux écrire", "qui contacter en cas de souci", "a qui dois-je signaler un bug"),
        *("a quien puedo escribir", "con quién hablo si me molestan", "dónde puedo reclamar"),
        *("a chi posso rivolgermi", "para quem posso ligar", "bij wie kan ik terecht", "кому можно написать"),
        *("应该联系谁", "誰に連絡すればいいですか", "누구에게 연락하나요", "لمن أكتب"),
    ],
)
def test_whom_to_write_to_or_call_is_an_address_or_a_number(question):
    [contact] = expected_facts(question)
    assert contact.search("care@mill.example")
    assert contact.search("+44 20 7946 0000")
    assert not contact.search("Write to Jane Fox.")
    assert not requested_facts(question)


@pytest.mark.parametrize(
    "question",
    [
        *(
            "phone nr for the mill",
            "whats the email for the press",
            "email of the chair",
            "number i can ring",
        ),
        *("welche nummer kann ich anrufen", "wie ist die mail vom vorstand", "quel numéro je dois composer"),
        *("c'est quoi l'adresse mail du trésorier", "a qué teléfono llamo", "cuál es el correo de la sede"),
        *("what is the email address of the mill", "is there a phone number", "a qué correo escribo"),
        *("what email address should I use to contact you", "phone number of the New Forest office"),
        *("is there another phone number", "Hello,\nwhat is the phone number of the mill?"),
        *(
            "An welche Mailadresse soll ich die Bewerbung senden?",
            "Ich suche die E-Mail-Adresse vom Vorstand",
        ),
        *("je cherche l'adresse mail du trésorier", "cuál es el teléfono para reservar"),
        *("qual é o e-mail para reclamações", "a qué correo debo remitir la factura"),
        *("an welche Mail-Adresse schreibe ich", "quel est le numéro de tél", "cuál es tu teléfono"),
        *("a che numero chiamo", "qual é o telefone da sede", "wat is het mailadres", "какой у вас имейл"),
    ],
)
def test_a_number_or_an_address_is_asked_for_in_short(question):
    assert requested_facts(question)


@pytest.mark.parametrize(
    "question", ["which email client is best", "how big is the phone", "will you email me"]
)
def test_what_only_names_an_email_or_a_phone_asks_for_none(question):
    assert not expected_facts(question)


def test_an_answer_can_do_without_a_name():
    assert not requested_facts("who funds the mill")
    assert not lacks_requested_fact("who funds the mill", "A foundation pays for it.")
    assert lacks_requested_fact("what is the price of a lamp", "Ask us.")


def test_the_sentence_with_the_name_comes_first():
    text = (
        "The chair of the mill is elected in May.\n\n- Chair of the mill: Jane Fox\n- Members: forty of them"
    )
    query = Query("who is the chair of the mill", "en")
    chunk = ScoredChunk(Chunk("1", "https://mill.example/", "Mill", (), text, 0, "en"), 1.0)
    evidence = Evidence(Rarity(EqualWords()), query, expected_facts(query.text))
    assert evidence.of([chunk], [units(text)])[0].unit.quote == "Chair of the mill: Jane Fox"


def test_a_long_word_is_searched_for_names_in_a_moment():
    [name] = expected_facts("who is the chair")
    started = time.process_time()
    assert not name.search("A'" * 20_000)
    assert time.process_time() - started < 1
