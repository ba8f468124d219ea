"""A site is read again: only what changed is touched, and what failed leaves the live index alone."""

from dataclasses import replace
from statistics import median

import pytest

from server.answering.floors import (
    ANSWER_MORE,
    CHECK,
    FEWEST,
    FLOOR,
    REFUSE_MORE,
    WRONG,
    FloorCheck,
    site_floor,
)
from server.answering.grading import DEFAULT_FLOOR
from server.domain.answer import Outcome
from server.domain.site import Site
from server.domain.site_fact import FactKind
from server.jobs.floor_check import HEADINGS, PHRASES
from server.quality.variant import EvaluatedVariant
from server.runtime.runtime import open_runtime
from server.settings import Settings
from tests.crawl_runs import begin_crawl
from tests.websites import SHOP, Website, serve


class Owner:
    """Somebody whose website is read by Docent in this process."""

    def __init__(self, folder, website, **settings):
        self.website = website
        self.runtime = open_runtime(Settings.of(data_dir=folder, crawl_allow_private=True, **settings))
        if self.runtime.stores.sites.find("shop") is None:
            self.runtime.stores.sites.create(Site("shop", "Shop", "", (f"{website.url}/",)))

    def crawl(self):
        crawl_id = begin_crawl(self.runtime.stores.crawls, "shop")
        self.website.requests.clear()
        self.runtime.crawling.refresh("shop", crawl_id)
        return self.runtime.stores.crawls.latest("shop")

    def pages(self):
        return {
            page.url.removeprefix(self.website.url) for page in self.runtime.stores.content("shop").pages()
        }

    def answer(self, text):
        exchange = self.runtime.chat.ask(self.runtime.stores.sites.get("shop"), text, visitor_id="v")
        *_, answer = exchange.events()
        return answer


@pytest.fixture
def website():
    with serve(Website("Lantern Shop", SHOP)) as site:
        yield site


@pytest.fixture
def folder(tmp_path, model_cache):
    (tmp_path / "models").symlink_to(model_cache)
    return tmp_path


@pytest.fixture
def owner(folder, website):
    made = Owner(folder, website)
    yield made
    made.runtime.close()


def test_a_crawl_makes_the_site_answer_and_learns_its_name_and_topics(owner):
    assert owner.crawl().state == "done"
    assert owner.pages() == set(SHOP)
    site = owner.runtime.stores.sites.get("shop")
    assert (site.title, site.language, site.generation) == ("Lantern Shop", "en", 1)
    assert "Delivery" in dict(site.topics)
    assert dict(site.topics)["Delivery"].endswith("/delivery")
    assert "4.50 EUR" in owner.answer("What does delivery cost?").text


def test_a_crawl_makes_the_card_of_facts_and_keeps_what_operators_add(owner, website):
    owner.crawl()
    card = owner.runtime.stores.card("shop")
    card.add(FactKind.PHONE, "", "020 7946 0000", "", "ada@example.com")
    body = "<p>Write to hi@shop.example or ask us in the shop on any day of the week.</p>"
    website.pages["/contact"] = ("Contact us", body)
    website.pages["/"] = ("Lantern Shop", SHOP["/"][1] + '<p><a href="/contact">Contact</a></p>')
    owner.crawl()
    assert [fact.value for fact in card.all()][:2] == ["020 7946 0000", "hi@shop.example"]
    answer = owner.answer("How do I email you?")
    assert (answer.outcome, answer.citations[0].quote) == (Outcome.ANSWERED, "hi@shop.example")
    assert "020 7946 0000" in owner.answer("Your phone number?").text


def test_suggested_questions_that_an_operator_wrote_outlive_a_crawl(owner):
    owner.crawl()
    site = owner.runtime.stores.sites.get("shop")
    assert site.options["suggestions"]
    own = {**site.options, "suggestions": ["Do you ship?"], "suggestions_chosen": True}
    owner.runtime.stores.sites.update(replace(site, options=own))
    owner.crawl()
    assert owner.runtime.stores.sites.get("shop").options["suggestions"] == ["Do you ship?"]


def test_an_unchanged_site_is_not_embedded_again(owner):
    owner.crawl()
    again = owner.crawl()
    assert "pages: 0 indexed, 5 unchanged, 0 removed; sections: 0 new, 0 removed" in again.message
    assert "anew" not in again.message
    assert owner.runtime.stores.sites.get("shop").generation == 1


def test_a_changed_page_is_answered_from_its_new_text(owner, website):
    owner.crawl()
    title, content = SHOP["/delivery"]
    website.pages["/delivery"] = (title, content.replace("4.50 EUR", "6.00 EUR"))
    assert owner.crawl().message.startswith("pages: 1 indexed, 4 unchanged")
    assert "6.00 EUR" in owner.answer("What does delivery cost?").text


def test_a_page_gone_twice_leaves_the_index(owner, website):
    owner.crawl()
    del website.pages["/prices"]
    owner.crawl()
    assert "/prices" in owner.pages()
    owner.crawl()
    assert "/prices" not in owner.pages()


def test_what_was_over_the_limit_is_read_when_the_limit_is_raised(owner, folder, website):
    owner.runtime.close()
    small = Owner(folder, website, crawl_max_pages=2)
    small.crawl()
    assert len(small.pages()) == 2
    small.runtime.close()
    owner.runtime = Owner(folder, website).runtime
    owner.crawl()
    assert owner.pages() == set(SHOP)


def test_a_site_that_is_down_fails_with_a_reason_and_stays_answered(owner, website):
    owner.crawl()
    site = owner.runtime.stores.sites.get("shop")
    owner.runtime.stores.sites.update(replace(site, start_urls=("http://127.0.0.1:9/",)))
    website.pages.clear()
    failed = owner.crawl()
    assert failed.state == "failed"
    assert "127.0.0.1:9" in failed.message
    assert owner.runtime.stores.incidents.recent(["shop"])[0].kind == "crawl_failed"
    assert owner.pages() == set(SHOP)


def test_another_strategy_indexes_the_unchanged_chunks_anew(owner):
    site = owner.runtime.stores.sites.get("shop")
    owner.runtime.stores.sites.update(replace(site, strategy="lexical"))
    owner.crawl()
    owner.runtime.stores.sites.update(replace(owner.runtime.stores.sites.get("shop"), strategy="hybrid"))
    assert "sections indexed again" in owner.crawl().message
    assert "4.50 EUR" in owner.answer("What does delivery cost?").text


def test_lost_vectors_are_made_anew(owner):
    owner.crawl()
    owner.runtime.engine.parts("shop", owner.runtime.engine.document_embedder).vectors.drop()
    assert "sections indexed again" in owner.crawl().message
    assert "sections indexed again" not in owner.crawl().message


def test_a_crawl_that_a_killed_worker_left_is_queued_again(owner):
    begin_crawl(owner.runtime.stores.crawls, "shop")
    owner.runtime.crawling.upkeep().take_up_left()
    assert owner.runtime.stores.crawls.latest("shop").state == "waiting"
    assert len(owner.runtime.crawling.jobs) == 1


TOPICS = (
    "harbour ferry", "museum garden", "bicycle repair", "swimming pool", "chess club", "pottery kiln", "night bus",
    "public library", "farmers market", "music school", "rowing course", "bread oven",
)  # fmt: skip


def test_a_crawl_asks_the_site_its_own_questions_with_their_page_and_without_it(owner):
    links = "".join(f"<li><a href='/{number}'>{topic}</a></li>" for number, topic in enumerate(TOPICS))
    owner.website.pages = {"/": ("Seaside town", f"<p>The town and what it offers.</p><ul>{links}</ul>")}
    for number, topic in enumerate(TOPICS):
        first, second = topic.split()
        owner.website.pages[f"/{number}"] = (
            topic.title(),
            f"<h2>Opening of the {topic}</h2><p>The {first} near our {second} welcomes {first} visitors at "
            f"{number + 6} every morning of the season.</p><h2>Cost of the {topic}</h2><p>A day at the {second} "
            f"with the {first} costs {number + 2} EUR, and children of the town pay nothing at all.</p>",
        )
    owner.crawl()
    site = owner.runtime.stores.sites.get("shop")
    fingerprint = owner.runtime.engine.query_embedder.fingerprint
    check = FloorCheck.from_json(site.options[CHECK], fingerprint)
    assert check.is_enough
    assert median(check.answerable) > median(check.unanswerable) + 0.15
    assert list(check.answerable) == sorted(check.answerable)
    assert check.generation == site.generation
    assert len(check.answerable) <= PHRASES + HEADINGS
    owner.crawl()
    assert owner.runtime.stores.sites.get("shop").options[CHECK] == site.options[CHECK]
    chosen = replace(site, options=site.options | {FLOOR: REFUSE_MORE})
    floor = site_floor(chosen, owner.runtime.settings, fingerprint)
    assert floor >= DEFAULT_FLOOR
    assert check.answered(floor).value <= WRONG
    assert check.refused(floor).value < 0.5, "most of what the site answers stays answered"


def test_a_small_site_has_too_few_sections_for_a_choice_of_floor(owner):
    owner.crawl()
    site = owner.runtime.stores.sites.get("shop")
    fingerprint = owner.runtime.engine.query_embedder.fingerprint
    check = FloorCheck.from_json(site.options[CHECK], fingerprint)
    assert check.answerable
    assert not check.is_enough
    chosen = replace(site, options=site.options | {FLOOR: REFUSE_MORE})
    assert site_floor(chosen, owner.runtime.settings, fingerprint) == DEFAULT_FLOOR


def test_the_choice_of_floor_changes_the_outcome_and_what_an_evaluation_keeps(owner):
    owner.crawl()
    sites, engine = owner.runtime.stores.sites, owner.runtime.engine
    asked = "How much is it to get an order home?"
    outcomes, fingerprints = {}, []
    check = FloorCheck((0.1,) * FEWEST, (0.59,) * FEWEST).to_json(engine.query_embedder.fingerprint)
    for choice in ("", ANSWER_MORE, REFUSE_MORE):
        site = sites.change(
            "shop", lambda now, to=choice: replace(now, options=now.options | {CHECK: check, FLOOR: to})
        )
        outcomes[choice] = owner.answer(asked).outcome
        fingerprints.append(repr(EvaluatedVariant(engine, owner.runtime.database, site).fingerprint()))
    assert outcomes == {"": "answered", ANSWER_MORE: "answered", REFUSE_MORE: "refused"}
    assert len(set(fingerprints)) == 3


def test_only_starters_that_the_site_answers_from_their_own_section_are_kept(owner):
    pages = {
        "/": ("Lantern Shop", "<p>Lantern Shop sells lamps made by hand. See <a href=/delivery>delivery</a>, "
              "<a href=/scenes>scenes</a>.</p>"),
        "/delivery": ("Delivery", "<h2>How long does delivery of a lamp take?</h2>"
                      "<p>Delivery of a lamp takes two working days within the country.</p>"),
        "/scenes": ("Behind the scenes", "<h2>What goes on in the moonlit workshop?</h2><p>Ask us!</p>"),
    }  # fmt: skip
    owner.website.pages = pages
    assert owner.crawl().state == "done"
    kept = owner.runtime.stores.sites.get("shop").options["suggestions"]
    assert "How long does delivery of a lamp take?" in kept
    assert "What goes on in the moonlit workshop?" not in kept
    assert all(owner.answer(text).outcome == "answered" for text in kept)
