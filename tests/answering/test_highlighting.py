"""Chromium marks exactly the quoted words: what it paints red is looked at, on pages that make it hard."""

import pytest

from crawler.extractors import SourceDocument, extract
from server.answering.verifying.citations import Citer
from server.answering.verifying.proofs import Proof
from server.answering.writing.units import units
from server.domain.chunk import ScoredChunk
from server.indexing.chunker import ChunkSizes, chunk_page
from tests.pictures import red_share
from tests.websites import Website, serve

FILLING = "<p>Lamps of brass have been made in this town since the first harbour was built here.</p>"
LONG = (
    "The workshop repairs every lamp that was bought from us within three years, whatever its maker, and "
    "sends it back free of charge; only the glass, which breaks too easily, is never part of this promise."
)

# name: (content, words of the quote, which of the pieces that hold them); the right place has class "yes".
PAGES = {
    "plain sentence": (f"{FILLING}<p>We like lamps. <span class=yes>Delivery takes two days.</span> Then it is yours.</p>", "Delivery takes", 0),
    "over inline markup": ("<p class=yes>Delivery <b>takes</b> <a href='/x'>two <i>working</i></a> days<sup>1</sup>.</p>", "Delivery takes", 0),
    "split word markup": ("<p class=yes>Press Ctrl<b>+</b>S to <code>save</code> the lamp's pro<wbr>file.</p>", "Press", 0),
    "a table row": ("<table><tr><th>Lamp</th><th>Price</th></tr><tr><td>Glow Mini</td><td>19.90 EUR</td></tr><tr class=yes><td>Glow Maxi</td><td>49.90 EUR</td></tr></table>", "Glow Maxi", 0),
    "a list item": (f"{FILLING}<ul><li>Wipe the glass.</li><li class=yes>Change the wick every month.</li><li>Fill in oil.</li></ul>", "Change the wick", 0),
    "a numbered step": ("<ol><li>Open the box.</li><li class=yes>Take out the lamp.</li></ol>", "Take out", 0),
    "a repeated beginning": ("<p class=no>It is free for members.</p><p>For guests of the harbour too: <span class=yes>It is free of charge.</span></p>", "It is free of", 0),
    "repeated under headings": ("<h2>Books</h2><p class=no>It is free.</p><h2>Lamps</h2><p class=yes>It is free.</p>", "It is free.", 1),
    "repeated and followed": ("<h2>Books</h2><p class=no>It is free. Only books.</p><h2>Lamps</h2><p><span class=yes>It is free.</span> Only lamps are.</p>", "It is free.", 1),
    "inside a longer word before": ("<p class=no>Undelivery is a word.</p><p class=yes>delivery is a word</p>", "delivery is", 1),
    "dashes": ("<p class=yes>A well-known, hand-made lamp – the best — costs 5-10% less.</p>", "well-known", 0),
    "ampersand and percent": ("<p class=yes>Oil &amp; wick: 100% cotton, “soft” & white; see §5, a=b?</p>", "cotton", 0),
    "chinese": ("<p>我们出售灯具。<span class=yes>送货需要两个工作日。</span>谢谢惠顾。</p>", "送货需要", 0),
    "japanese": ("<p>ランプを販売しています。<span class=yes>配送には二日かかります。</span>ありがとうございます。</p>", "配送には", 0),
    "korean": ("<p>램프를 팝니다. <span class=yes>배송은 이틀 걸립니다.</span> 감사합니다.</p>", "배송은", 0),
    "arabic": ("<div dir=rtl lang=ar><p>نبيع المصابيح. <span class=yes>يستغرق التوصيل يومين.</span> شكرا لكم.</p></div>", "يستغرق", 0),
    "hebrew": ("<div dir=rtl lang=he><p>אנחנו מוכרים מנורות. <span class=yes>המשלוח אורך יומיים.</span></p></div>", "המשלוח", 0),
    "no-break spaces": ("<p class=yes>Delivery&nbsp;takes 2&nbsp;days and&#8239;costs 4,50&nbsp;€.</p>", "costs", 0),
    "soft hyphens": ("<p class=yes>De&shy;liv&shy;ery of the lan&shy;tern takes two days.</p>", "takes two", 0),
    "ligatures": ("<p class=yes>The oﬃce ﬁlls in the ﬂuid of the lamp.</p>", "lamp", 0),
    "hidden text before": ("<p style='display:none' class=hidden>Delivery takes two days.</p><p class=yes>Delivery takes two days.</p>", "Delivery", 0),
    "a long sentence": (f"{FILLING}<p>Good news. <span class=yes>{LONG}</span> Ask us.</p>", "workshop repairs", 0),
    "capital letters by style": ("<p class=yes style='text-transform:uppercase'>Delivery takes two days.</p>", "Delivery", 0),
    "code": ("<p>Run this:</p><pre class=yes>sh lamp-driver.sh --quiet &amp;&amp; echo 'done, at last'</pre>", "lamp-driver", 0),
}  # fmt: skip


@pytest.fixture(scope="module")
def website():
    pages = {
        f"/{name.replace(' ', '-')}": (name, f"{content}{FILLING}") for name, (content, _, _) in PAGES.items()
    }
    with serve(Website("Lantern Shop", pages)) as site:
        yield site


@pytest.fixture(scope="module")
def context(browser):
    made = browser.new_context(viewport={"width": 900, "height": 700})
    yield made
    made.close()


@pytest.fixture(scope="module")
def pixels(context, website):
    """A page that measures how red a picture is; it keeps the process that draws the others."""
    page = context.new_page()
    page.goto(website.url + "/plain-sentence")
    return page


def cited_link(url, markup, words, which):
    """The link of a citation of that piece of the page, as the crawler and the chunker see it."""
    page = extract(SourceDocument(url, markup)).page
    chunks = [ScoredChunk(chunk, 1.0) for chunk in chunk_page(page, ChunkSizes())]
    found = [
        Proof(source, unit.text)
        for source, hit in enumerate(chunks)
        for unit in units(hit.chunk.text)
        if words in unit.quote
    ]
    assert len(found) > which, f"the page was read as {[hit.chunk.text for hit in chunks]}"
    origin = "/".join(url.split("/")[:3])
    text = "\n\n".join(hit.chunk.text for hit in chunks)
    citations, _ = Citer(chunks, frozenset({origin}), lambda _: text).cite([found[which]])
    return citations[0].link


@pytest.mark.parametrize("name", PAGES)
def test_the_browser_marks_the_quoted_words_and_no_others(context, website, pixels, name):
    path = f"/{name.replace(' ', '-')}"
    _, markup = website.pages[path][0], website.answer(path)[2]
    _, words, which = PAGES[name]
    link = cited_link(website.url + path, markup, words, which)
    page = context.new_page()
    page.goto(link)
    page.wait_for_load_state()
    right = page.locator(".yes")
    right.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert red_share(pixels, right.screenshot()) > 0.02, f"not marked: {link}"
    for wrong in page.locator(".no").all():
        assert red_share(pixels, wrong.screenshot()) == 0, f"marked elsewhere: {link}"
    page.close()
