"""A section that does not mention the thing that is asked for, such as parking, is no answer."""

import pytest

from server.answering.grading import (
    DEFAULT_FLOOR,
    IN_OTHER_WORDS,
    NEAR_WITHOUT,
    OTHER_THING,
    UNSURE,
    EvidenceGrader,
)
from server.answering.ranking import ODDS
from server.answering.understanding.glossary import look_up, words
from server.answering.understanding.things import THINGS, asked_things, lacks_thing
from server.answering.writing.quoting import QuotingWriter
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Query, Question
from server.languages.loader import languages
from server.retrieval.rarity import Rarity
from tests.equal_words import EqualWords


def section(text, heading="The mill", language="en"):
    return Chunk(text, "https://mill.example/", "The mill", (heading,), text, 0, language)


@pytest.mark.parametrize(
    ("language", "question", "other", "answer"),
    [
        ("en", "where can I park my car?", "Trams stop at the mill.", "The garage has a car park of 40 places."),
        ("en", "can my dog come along?", "Children may come along.", "Pets wait at the door."),
        ("en", "is there a dress code?", "Parties begin at eight.", "Wear what you like."),
        ("en", "do I get my money back?", "Tickets are sold at the door.", "You can cancel until May."),
        ("en", "is there a student discount?", "Students sit in front.", "Students pay half: 5 €."),
        ("en", "do you accept Visa?", "We are closed on Monday.", "We take all major credit cards."),
        ("de", "Gibt es WLAN?", "Die Mühle ist alt.", "Kostenloses Wi-Fi in allen Räumen."),
        ("it", "Posso avere un rimborso?", "Il mulino apre alle dieci.", "Potete annullare fino a maggio."),
        ("nl", "Is er parkeerplaats?", "De molen opent om tien uur.", "Parkeren kan voor de molen."),
        ("pl", "Czy jest parking?", "Młyn otwieramy o dziesiątej.", "Parking jest przed młynem."),
        ("de", "Gibt es einen Gepäckraum, ein Schließfach?", "Die Mühle hat zwei Räume.", "Gepäck bleibt hier."),
        ("es", "¿Se puede fumar?", "El molino abre a las diez.", "Fumar está prohibido en el molino."),
        ("fr", "Y a-t-il un parking ?", "Le tram s’arrête au moulin.", "Le parking est devant le moulin."),
        ("pt", "Posso levar meu cachorro?", "O moinho abre às dez.", "Um cachorro pequeno pode entrar."),
        ("ru", "Где парковка?", "Мельница открыта с десяти.", "Парковка перед мельницей."),
        ("ja", "駐車場はありますか？", "水車小屋は十時に開きます。", "駐車場は水車小屋の前です。"),
        ("ko", "주차 되나요?", "방앗간은 열 시에 엽니다.", "주차는 방앗간 앞에 하세요."),
        ("zh", "可以停车吗？", "磨坊十点开门。", "磨坊前面可以停车。"),
        ("ar", "أين موقف السيارات؟", "تفتح الطاحونة في العاشرة.", "موقف السيارات أمام الطاحونة."),
        ("ar", "هل يوجد تأمين؟", "تفتح الطاحونة في العاشرة.", "التأمين مشمول في السعر."),
        ("fr", "Comment venir de l'aéroport ?", "Le moulin ouvre à dix heures.", "Depuis l’aéroport, prenez le bus."),
        ("it", "C’è un albergo?", "Il mulino apre alle dieci.", "L'albergo è dietro il mulino."),
        ("pl", "Czy pies może wejść?", "Młyn otwieramy o dziesiątej.", "Psy są mile widziane."),
        ("en", "Do you sell gift certificates?", "The mill is old.", "Gift cards are sold at the till."),
        ("en", "What is your VAT number?", "The mill is old.", "VAT: GB 123."),
        ("en", "Can I leave my luggage?", "The mill is old.", "Leave your bags at the desk."),
        ("en", "Is there a livestream?", "The mill is old.", "All talks are streamed."),
        ("en", "How do I get a certificate?", "The mill is old.", "You are certified for two years."),
        ("ar", "هل يوجد موقف سيارات؟", "تفتح الطاحونة في العاشرة.", "تتوفر مواقف مجانية للزوار"),
        ("fr", "Y a-t-il une liste d'attente ?", "Mon fils vend du câble électrique.", "La liste d’attente est ouverte."),
    ],
)  # fmt: skip
def test_what_does_not_mention_the_thing_lacks_it(language, question, other, answer):
    query = Query(question, language)
    assert lacks_thing(query, [section(other, language=language)])
    assert not lacks_thing(query, [section(other, language=language), section(answer, language=language)])


def test_a_thing_is_found_in_headings_and_only_pages_in_the_visitors_language_lack_it():
    query = Query("where can I park?", "en")
    assert lacks_thing(query, [section("In front of the mill.")])
    assert not lacks_thing(query, [section("In front of the mill.", "Parking")])
    assert not lacks_thing(query, [section("Vor der Mühle.", language="de")]), "its words are less sure"
    assert not lacks_thing(query, [])


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "when do you open?"),
        ("en", "how do I pay?"),
        ("en", "is my animation too fast?"),
        ("es", "¿Cuándo puedo recibir la cuarta dosis?"),
        ("es", "No recibo el correo de confirmación"),
        ("es", "¿Es seguro pagar con tarjeta?"),
        ("es", "¿Hay acceso para personas con movilidad reducida?"),
        ("it", "Non ho visto la mail di conferma"),
        ("fr", "Je n'ai pas reçu ma commande"),
        ("fr", "Avez-vous un chat en direct ?"),
        ("de", "Wie kann ich mich abmelden?"),
        ("en", "Which Python interpreter do I need?"),
        ("en", "how many degrees is the sauna?"),
        ("pt", "isso não ajudou em nada"),
        ("ja", "何番ポートで待ち受けますか"),
        ("it", "Posso prenotare direttamente da voi?"),
        ("es", "¿Puedo comprar entradas en taquilla?"),
        ("es", "¿Qué intérprete de Python necesito?"),
        ("pt", "Já tinha visto este produto, ainda está disponível?"),
        ("ja", "メールマガジンの配信時間は？"),
        ("ja", "スプールとは"),
        ("ko", "소비자 상담 전화번호가 어떻게 되나요?"),
        ("ko", "3주차 강의는 언제인가요?"),
        ("ko", "12주차 강의는 언제인가요?"),
        ("ko", "금융소비자 상담 전화번호는?"),
        ("ja", "アドブロッカーは使えますか"),
        ("pt", "Quais animais posso ver no parque?"),
        ("en", "Is your coffee certified organic?"),
        ("it", "Quale interprete Python mi serve?"),
        ("ar", "ما هي مواقف المنظمة من التغير المناخي؟"),
    ],
)
def test_other_questions_ask_for_no_thing(language, question):
    assert asked_things(Query(question, language)) == ()


@pytest.mark.parametrize(
    ("language", "question"),
    [("ja", "カフェ・ロッカーはありますか"), ("ja", "コインロッカーはありますか"), ("ko", "무료주차 되나요?"), ("es", "¿Tienen consigna?")],
)  # fmt: skip
def test_a_thing_may_be_a_part_of_a_longer_word(language, question):
    assert asked_things(Query(question, language)) != ()


@pytest.mark.parametrize(
    ("language", "text", "concepts"),
    [
        ("fr", "C’est une vieille ferme, n’est-ce pas ? Qu’est-ce que c’est ?", set()),
        ("fr", "L’hôtel", {"hotel", "accommodation"}),
        ("ar", "البريد الالكتروني", {"email"}),
        ("ar", "الالغاء", {"cancel"}),
        ("it", "Contattaci direttamente", set()),
        ("de", "Die E-Mail wurde gesendet", {"email"}),
    ],
)
def test_words_of_the_glossary_are_found_however_they_are_written(language, text, concepts):
    found = {concept for one in look_up(text, language) for concept in one.concepts}
    assert concepts <= found
    assert not found & {"price", "streamed", "livestream"}


def test_every_thing_and_what_may_be_said_instead_is_in_the_glossary():
    concepts = {concept for thing, others in THINGS.items() for concept in (thing, *others)}
    with_glossary = [code for code, one in languages().items() if one.glossary]
    assert len(with_glossary) >= 10
    assert [(code, one) for one in concepts for code in with_glossary if not words(one, code)] == []


def hit(text, score, heading="The mill", likely=1.0, nearness=0.3):
    scores = {"tokens": 5.0, "headline": 5.0, "sentence": nearness, ODDS: likely}
    return ScoredChunk(section(text, heading), score, scores, sentence=text)


def test_the_answerability_of_what_lacks_the_thing_is_low_and_it_is_not_shown_even_alone():
    grader = EvidenceGrader(Rarity(EqualWords()))
    query = Query("where do I park at the mill", "en")
    near = [
        hit("You arrive at the mill by tram.", 0.9),
        *(hit(f"Hall {n}.", 0.1, likely=0.1) for n in range(10)),
    ]
    assert grader.answerability(query, near) == OTHER_THING
    assert UNSURE * DEFAULT_FLOOR < OTHER_THING < DEFAULT_FLOOR, "it is named as near"
    assert grader.keep(query, near) == []
    in_other_words = [hit("Leave your car by the mill.", 0.9, nearness=NEAR_WITHOUT)]
    assert grader.grade(query, in_other_words).is_doubtful, "it is shown, but with doubt"
    assert grader.keep(query, [near[0], hit("You park behind the mill.", 0.8)])


def test_where_sentences_are_not_compared_what_lacks_the_thing_is_shown_with_doubt():
    grader = EvidenceGrader(Rarity(EqualWords()))
    text = "Kommen Sie mit der Bahn oder mit dem Bus zur Mühle."
    scores = {"tokens": 5.0, "coverage": 0.9, ODDS: 1.0}
    found = [ScoredChunk(section(text, "Anreise", language="de"), 0.9, scores)]
    query = Query("Wo parke ich an der Mühle?", "de")
    assert lacks_thing(query, [found[0].chunk])
    assert grader.answerability(query, found) == IN_OTHER_WORDS
    assert grader.grade(query, found).is_doubtful


def test_of_the_sections_the_one_that_mentions_the_thing_is_shown_first():
    question, query = (
        Question("where do I park at the mill", "mill"),
        Query("where do I park at the mill", "en"),
    )
    hits = [
        hit("At the mill you arrive by tram.", 0.9, "Trams"),
        hit("A garage for cars is next door.", 0.85, "Parking"),
    ]
    first = next(QuotingWriter(Rarity(EqualWords())).write(question, query, hits))
    assert "next door" in first.text
