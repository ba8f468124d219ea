from __future__ import annotations

import pytest

BODY = "<main><h1>{h1}</h1><p>" + "Words of the page that say something. " * 3 + "</p></main>"


@pytest.mark.parametrize(
    ("title", "h1", "expected", "site"),
    [
        ("Prices — Acme Garden", "Prices", "Prices", "Acme Garden"),
        ("Prices | Acme", "Our prices", "Our prices", ""),
        ("Acme Garden: Prices", "Prices", "Prices", ""),
        (
            "json — JSON encoder — Python 3 documentation",
            "json — JSON encoder",
            "json — JSON encoder",
            "Python 3 documentation",
        ),
        ("Untitled Document", "Prices", "Prices", ""),
        ("", "Prices", "Prices", ""),
        ("Something else", "Prices", "Something else", ""),
        ("Prices", "", "Prices", ""),
    ],
)
def test_the_title_is_the_pages_own(read, title: str, h1: str, expected: str, site: str) -> None:
    page = read(f"<head><title>{title}</title></head>" + BODY.format(h1=h1)).page
    assert (page.title, page.site_name) == (expected, site)


def test_the_sites_declared_name_is_taken_off(read) -> None:
    head = '<head><title>Acme · Prices of today</title><meta property="og:site_name" content="Acme"></head>'
    page = read(head + BODY.format(h1="")).page
    assert (page.title, page.site_name) == ("Prices of today", "Acme")


@pytest.mark.parametrize(
    ("shared_as", "headings", "expected"),
    [
        ("Meetings", "<h2>Meetings</h2><h1>Overview</h1>", "Meetings"),
        ("Meetings", "<h1>Overview</h1>", "The lamp makers of Acme"),
        ("Acme", "<h1>Prices</h1>", "The lamp makers of Acme"),
        ("Meetings", "<h2>Meetings</h2><h1>The lamp makers</h1>", "The lamp makers"),
    ],
)
def test_the_name_under_which_a_page_is_shared_is_its_title_if_only_that_heads_it(
    read, shared_as: str, headings: str, expected: str
) -> None:
    head = (
        f'<head><title>The lamp makers of Acme</title><meta property="og:title" content="{shared_as}"></head>'
    )
    assert read(f"{head}<body><main>{headings}<p>We meet in May.</p></main></body>").page.title == expected


@pytest.mark.parametrize("title", ["| Acme", "Acme", "Acme | Acme", "— Acme", "Acme:"])
@pytest.mark.parametrize(
    ("path", "h1", "expected"),
    [("give", "Give to us", "Give to us"), ("", "Give to us", "Acme"), ("give", "", "Acme")],
)
def test_a_page_whose_title_is_only_the_name_of_the_site_is_called_by_its_heading(
    read, title: str, path: str, h1: str, expected: str
) -> None:
    head = f'<head><title>{title}</title><meta property="og:site_name" content="Acme"></head>'
    markup = f"{head}<body><main><h1>{h1}</h1><p>We mend lamps.</p></main></body>"
    page = read(markup, f"https://example.com/{path}").page
    assert (page.title, page.site_name) == (expected, "Acme")


@pytest.mark.parametrize("path", ["/de/", "/index.html", "/acme/", "/pt-br/index.php"])
def test_start_pages_of_languages_and_folders_keep_the_name_of_the_site(read, path: str) -> None:
    head = '<head><title>Acme</title><meta property="og:site_name" content="Acme"></head>'
    markup = f"{head}<body><main><h1>Newsletter</h1><p>We mend lamps.</p></main></body>"
    assert read(markup, f"https://example.com{path}").page.title == "Acme"


def test_a_title_of_signs_is_replaced_by_the_heading(read) -> None:
    markup = "<head><title>|</title></head><body><main><h1>Lamps</h1><p>We mend lamps.</p></main></body>"
    assert read(markup, "https://example.com/").page.title == "Lamps"


def test_a_page_without_any_title_is_called_by_its_text_or_address(read) -> None:
    assert read("<p>Only a sentence.</p>").page.title == "Only a sentence."
    assert read("<img src=x>", url="https://example.com/docs/map.html").page.title == "map.html"


@pytest.mark.parametrize(
    ("markup", "language"),
    [
        ('<html lang="de-AT">', "de"),
        ('<html xml:lang="fr" xmlns="http://www.w3.org/1999/xhtml">', "fr"),
        ('<html><head><meta http-equiv="Content-Language" content="pt-BR, en"></head>', "pt"),
        ('<html><head><meta property="og:locale" content="nl_NL"></head>', "nl"),
        ('<html><body><div lang="da">', "da"),
        ('<html lang="klingon!">', "en"),
    ],
)
def test_the_declared_language_counts(read, markup: str, language: str) -> None:
    prose = "The opening hours of the shop are on the door and this is not to be changed by you."
    assert read(f"{markup}<main><p>{prose}</p></main>").page.language == language


@pytest.mark.parametrize(
    ("language", "prose"),
    [
        ("en", "You can return the goods within a month and we pay for the way back if it was not your fault."),
        ("de", "Sie können die Ware innerhalb eines Monats zurückgeben und wir zahlen für den Rückweg, wenn es nicht Ihre Schuld ist."),
        ("fr", "Vous pouvez rendre la marchandise dans un mois et nous payons le retour si ce n'est pas de votre faute, avec les frais."),
        ("es", "Puede devolver el producto en un mes y nosotros pagamos los gastos del envío si no es por su culpa, como se dice en la página."),
        ("it", "Può restituire la merce entro un mese e noi paghiamo il ritorno se non è colpa sua, come si dice nella pagina che segue."),
        ("pt", "Pode devolver o produto em um mês e não paga os custos do envio, como se diz na página que está por baixo dos preços."),
        ("nl", "U kunt de goederen binnen een maand terugsturen en wij betalen voor het vervoer als het niet uw schuld is, zoals op de pagina staat."),
        ("pl", "Możesz zwrócić towar w ciągu miesiąca i nie płacisz za przesyłkę, jeśli to nie jest twoja wina, jak napisano na stronie."),
        ("tr", "Ürünü bir ay içinde geri verebilirsiniz ve bu sizin suçunuz değil ise kargo için para ödemezsiniz, daha çok bilgi ile birlikte."),
        ("ru", "Вы можете вернуть товар в течение месяца, и мы оплатим обратный путь."),
        ("uk", "Ви можете повернути товар протягом місяця, і ми оплатимо зворотну дорогу."),
        ("el", "Μπορείτε να επιστρέψετε το προϊόν μέσα σε έναν μήνα."),
        ("ar", "يمكنك إرجاع البضاعة خلال شهر واحد من تاريخ الشراء."),
        ("he", "ניתן להחזיר את המוצר בתוך חודש מיום הקנייה."),
        ("zh", "您可以在一个月内退货，运费由我们承担。"),
        ("ja", "商品は一か月以内に返品できます。送料は当社が負担します。"),
        ("ko", "상품은 한 달 이내에 반품할 수 있으며 배송비는 저희가 부담합니다."),
    ],
)  # fmt: skip
def test_an_undeclared_language_is_recognised(read, language: str, prose: str) -> None:
    assert read(f"<main><p>{prose}</p></main>").page.language == language


def test_a_template_that_declares_english_around_another_script_is_corrected(read) -> None:
    assert (
        read(
            '<html lang="en"><main><p>您可以在一个月内退货，运费由我们承担。请联系客服。</p></main>'
        ).page.language
        == "zh"
    )
    assert read('<html lang="ja"><main><p>日本国憲法前文東京都千代田区</p></main>').page.language == "ja"


def test_code_does_not_decide_the_language(read) -> None:
    code = "<pre>" + "for this in that: if it is not the end or and to be of a" * 10 + "</pre>"
    assert (
        read(
            f"<main>{code}<p>Sie können das hier nicht ohne die Hilfe von der Firma und dem Kunden lesen.</p></main>"
        ).page.language
        == "de"
    )


def test_nothing_to_go_by_gives_no_language(read) -> None:
    assert read("<main><p>SQLITE_OK 42</p></main>").page.language == ""


def test_links_are_absolute_unique_and_in_page_order(read) -> None:
    found = read(
        '<base href="/base/"><a href="b#x">b</a><a href="/a">a</a><a href="b#y">b</a><a href="mailto:x@y.z">m</a>'
        '<a href="https://other.example/?utm_source=q">o</a><a href="#top">t</a><iframe src="frame.html"></iframe>'
        '<map><area href="area"></map><link rel="alternate" hreflang="de" href="/de/"><link rel="stylesheet" href="s.css">'
    )
    assert found.page.links == (
        "https://example.com/base/b",
        "https://example.com/a",
        "https://other.example/",
        "https://example.com/base/frame.html",
        "https://example.com/base/area",
        "https://example.com/de/",
    )
    assert found.follow == found.page.links


def test_nofollow_links_are_links_but_not_followed(read) -> None:
    found = read('<a rel="nofollow ugc" href="/a">a</a><a href="/b">b</a><a rel=nofollow href="/b">b</a>')
    assert [url[-1] for url in found.page.links] == ["a", "b"]
    assert [url[-1] for url in found.follow] == ["b"]


@pytest.mark.parametrize(
    ("content", "noindex", "nofollow"),
    [
        ("noindex", True, False),
        ("NOFOLLOW, noarchive", False, True),
        ("none", True, True),
        ("index,follow", False, False),
    ],
)
def test_wishes_to_robots_are_read(read, content: str, noindex: bool, nofollow: bool) -> None:
    found = read(f'<meta name="Robots" content="{content}"><p>x</p>')
    assert (found.noindex, found.nofollow) == (noindex, nofollow)


def test_the_hash_follows_the_content_and_nothing_else(read) -> None:
    one = read("<nav><a href=/a>x</a></nav><main><p>Same text, many words of it.</p></main>").page
    other = read(
        "<nav><a href=/b>y</a></nav><main><p>Same  text, <b>many</b> words of it.</p></main>", etag="e"
    ).page
    changed = read("<main><p>Same text, many words of it!</p></main>").page
    assert one.content_hash == other.content_hash
    assert one.content_hash != changed.content_hash


def test_a_half_translated_page_goes_to_the_language_that_its_address_names(read) -> None:
    half = "The tool is not in the list of the packages. Le paquet est dans la liste et ne sera pas installé sur le disque."
    assert read(f"<main><p>{half}</p></main>", url="https://example.com/fr-FR/tools").page.language == "fr"
    assert read(f"<main><p>{half}</p></main>", url="https://example.com/tools.fr.html").page.language == "fr"
    english = "The tool is not in the list of the packages that you can install on the disk of this machine."
    assert read(f"<main><p>{english}</p></main>", url="https://example.com/fr/tools").page.language == "en"


def test_feeds_are_named_and_not_followed_as_pages(read) -> None:
    found = read(
        '<head><link rel="alternate" type="application/rss+xml" href="feed.xml">'
        '<link rel="ALTERNATE" type="Application/Atom+XML; charset=utf-8" href="https://example.com/atom">'
        '<link rel="alternate" type="application/json+oembed" href="/oembed">'
        '<link rel="alternate" type="application/rss+xml" href=" "></head><body><p>Text</p></body>'
    )
    assert found.feeds == ("https://example.com/docs/feed.xml", "https://example.com/atom")
    assert found.follow == ()


def test_routes_behind_a_hash_are_links_when_asked_for(read) -> None:
    markup = (
        '<p>Go to <a href="#/prices">prices</a>, <a href="#top">the top</a> or <a href="/b#!x">there</a>.</p>'
    )
    assert read(markup, hash_routes=True).follow == (
        "https://example.com/docs/page#/prices",
        "https://example.com/b#!x",
    )
    assert read(markup).follow == ("https://example.com/b",)


@pytest.mark.parametrize(
    ("menu", "group"),
    [
        ('<a href="/registrar/ak" hreflang="en">English</a>', "/registrar/ak"),
        ('<a href="/register/ak"><span lang="en">English</span></a>', "/register/ak"),
        ('<a href="/register/ak">English</a>', "/register/ak"),
        ('<a href="/" hreflang="en">English</a>', "/es/inscripcion/ak"),
        ('<a href="/register/ak" lang="en">The state of Alaska has a page in English on all of it</a>', ""),
    ],
)
def test_a_menu_of_languages_names_the_variants_of_the_page(read, menu: str, group: str) -> None:
    markup = f"<html lang=es><body><nav>{menu}</nav><main><p>Las lámparas.</p></main></body></html>"
    page = read(markup, url="https://x.example/es/inscripcion/ak").page
    expected = group.removeprefix("/es") or "/inscripcion/ak"
    assert page.variant_group == f"https://x.example{expected}"


@pytest.mark.parametrize(
    "pixel",
    [
        '<img height="1" width="1" style="display:none" src="https://www.facebook.com/tr?id=1"/>',
        '<noscript><iframe src="https://www.googletagmanager.com/ns.html?id=GTM-1" height="0"></iframe></noscript>',
        '<div id="fb-root"></div>',
        "<p></p>",
    ],
)
def test_a_misplaced_element_in_the_head_hides_nothing_of_what_comes_after_it(read, pixel: str) -> None:
    """It ends the head of the tree, and the rest of the head is in the body."""
    found = read(
        f"<html><head>{pixel}<title>Lamps | Acme</title><meta name=robots content=noindex>"
        "<meta name=description content='All our lamps.'><meta property='og:site_name' content=Acme>"
        "<base href='https://example.com/shop/'><link rel=canonical href=lamps>"
        "<link rel=alternate hreflang=de href=/de/lamps></head>"
        "<body><svg><title>An icon</title></svg><main><p>Lamps of every kind, old and new.</p></main></body></html>"
    )
    assert (found.page.title, found.page.site_name) == ("Lamps", "Acme")
    assert found.page.description == "All our lamps."
    assert found.canonical == "https://example.com/shop/lamps"
    assert found.noindex


def test_an_icon_gives_no_page_its_title(read) -> None:
    found = read(
        "<body><svg><title>An icon</title></svg><main><h1>Lamps</h1><p>Of every kind.</p></main></body>"
    )
    assert found.page.title == "Lamps"
