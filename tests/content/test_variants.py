"""Pages in several languages are variants of one page: the one in the question's language answers."""

import pytest

from tests.websites import FILLER

ENGLISH = {
    "": ("Harbour Museum", "<p>The Harbour Museum shows ships and maps of the old port.</p>"),
    "visit": (
        "Your visit",
        "<h2>Opening hours</h2><p>The museum is open from nine to five on every day but Monday.</p>"
        "<h2>Audio guide</h2><p>The Polymap audio guide costs three euros at the desk.</p>",
    ),
    "school": ("Schools", "<h2>Groups</h2><p>School groups pay two euros for each pupil.</p>"),
}
FRENCH = {
    "": ("Musée du Port", "<p>Le musée du port montre des bateaux et des cartes du vieux port.</p>"),
    "visit": (
        "Votre visite",
        "<h2>Horaires</h2><p>Le musée est ouvert de neuf heures à cinq heures tous les jours sauf le lundi.</p>"
        "<h2>Audioguide Polymap</h2><p>L'audioguide Polymap, Polymap en français, coûte trois euros à la caisse.</p>",
    ),
    "club": ("Club", "<h2>Carte Amiral</h2><p>La carte Amiral du club coûte trente euros par an.</p>"),
}


def markup(language, title, content, links, head=""):
    menu = "".join(f"<a href='{link}'>{link}</a>" for link in links)
    return (
        "text/html; charset=utf-8",
        f"<!doctype html><html lang='{language}'><head><title>{title}</title>{head}</head><body>"
        f"<nav>{menu}</nav><main><h1>{title}</h1>{content}</main></body></html>".encode(),
    )


@pytest.fixture
def museum(shop):
    paths = [*(f"/{name}" for name in ENGLISH), *(f"/fr/{name}" for name in FRENCH)]
    shop.website.pages = {}
    for name, (title, content) in ENGLISH.items():
        shop.website.files[f"/{name}"] = markup("en", title, content, paths)
    for name, (title, content) in FRENCH.items():
        shop.website.files[f"/fr/{name}"] = markup("fr", title, content, paths)
    shop.crawl()
    return shop


def paths(shop, hits):
    return [hit.chunk.url.removeprefix(shop.website.url) for hit in hits]


def test_the_crawl_stores_which_pages_are_variants(museum):
    content = museum.runtime.stores.content("shop")
    urls = [museum.url(path) for path in ("/fr/visit", "/fr/club", "/visit", "/fr/")]
    assert content.variants(urls, "en") == {
        museum.url("/fr/visit"): museum.url("/visit"),
        museum.url("/fr/"): museum.url("/"),
    }
    assert content.variants(urls, "fr") == {museum.url("/visit"): museum.url("/fr/visit")}
    assert content.variants(urls, "de") == {}


@pytest.mark.parametrize(("language", "own"), [("en", "/visit"), ("fr", "/fr/visit")])
def test_a_question_is_answered_from_the_variant_in_its_language(museum, language, own):
    found = museum.found("Polymap audio guide / audioguide Polymap", language=language)
    assert paths(museum, found)[0] == own
    assert all(hit.chunk.language == language for hit in found if "Polymap" in hit.chunk.text)
    answer = museum.answer("How much is the Polymap audio guide?")
    assert answer.sources == (museum.url("/visit"),)


def test_what_only_the_other_language_says_is_still_found(museum):
    assert paths(museum, museum.found("Amiral"))[0] == "/fr/club"


def test_what_is_not_translated_yet_leads_to_the_page_in_the_language_of_the_question(museum):
    lending = (
        "<h2>Lending</h2><p>Sextants and other instruments of the old pilots can be borrowed for a week, if you "
        "show a library card at the desk and leave a deposit of twenty euros.</p>"
    )
    french = (
        "<h2>Bibliothèque</h2><p>La bibliothèque du port prête des livres et des cartes anciennes aux visiteurs, "
        "qui peuvent les lire dans la salle du premier étage tous les matins de la semaine.</p>"
    )
    english = "<h2>Library</h2><p>The library lends books and old maps to readers.</p>"
    links = [f"{root}/library" for root in ("", "/fr")]
    museum.website.files["/library"] = markup("en", "Library", f"{english}{lending}", links)
    museum.website.files["/fr/library"] = markup("fr", "Bibliothèque", f"{french}{lending}", links)
    museum.website.files["/"] = markup("en", *ENGLISH[""], ["/fr/", *links, *map("/{}".format, ENGLISH)])
    museum.crawl()
    found = paths(museum, museum.found("can i borrow a sextant", language="en"))
    assert "/library" in found
    assert "/fr/library" not in found


def test_variants_with_other_addresses_declare_each_other(shop):
    head = "".join(
        f"<link rel='alternate' hreflang='{language}' href='{path}'>"
        for language, path in (("en", "/tickets"), ("de", "/karten"), ("x-default", "/tickets"))
    )
    shop.website.files["/tickets"] = markup(
        "en", "Tickets", f"<p>Tickets are free.</p>{FILLER}", ["/karten"], head
    )
    shop.website.files["/karten"] = markup(
        "de",
        "Karten",
        "<p>Die Karten sind für alle kostenlos und gelten den ganzen Tag.</p>",
        ["/tickets"],
        head,
    )
    shop.set_page("/", "Lantern Shop", "<p>See our <a href='/tickets'>tickets</a> for the show.</p>")
    shop.crawl()
    content = shop.runtime.stores.content("shop")
    assert content.variants([shop.url("/karten")], "en") == {shop.url("/karten"): shop.url("/tickets")}


def test_a_section_in_another_language_has_its_own_language(shop):
    text = (
        "Le musée est ouvert de neuf heures à cinq heures tous les jours sauf le lundi, et les enfants de moins "
        "de douze ans ne paient pas. Les chiens ne sont pas admis dans les salles, sauf les chiens guides."
    )
    shop.set_page("/returns", "Returns", f"<p>Lamps can be returned.</p><h2>En bref</h2><p>{text}</p>")
    shop.crawl()
    chunks = shop.runtime.stores.content("shop").page(shop.url("/returns"))
    assert [chunk.language for chunk in chunks] == ["en", "fr"]
