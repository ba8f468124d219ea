"""What the writer reads around the chunks that were found."""

from crawler.page import Block, Page
from server.answering.writing.reading import NeighbourReader
from server.domain.chunk import Chunk, ScoredChunk, joined_text
from server.indexing.chunker import ChunkSizes, chunk_page

URL = "https://shop.example/returns"


def piece(position, text, *, path=("Returns",)):
    return Chunk(f"c{position}", URL, "Returns", path, text, position)


PAGE = [
    piece(0, "Send it back. Use the box."),
    piece(1, "Use the box. Add the slip."),
    piece(2, "- Print the slip\n- Sign it"),
    piece(3, "Refunds take five days.", path=("Returns", "Refunds")),
]


def widened(*positions, neighbours=1):
    reader = NeighbourReader({URL: PAGE}.__getitem__, neighbours)
    return [hit.chunk.text for hit in reader.widen([ScoredChunk(PAGE[at], 1.0) for at in positions])]


def test_a_chunk_is_read_with_those_around_it_and_repeats_nothing():
    assert widened(1) == ["Send it back. Use the box. Add the slip.\n\n- Print the slip\n- Sign it"]


def test_another_section_is_not_read_with_it():
    assert widened(3) == ["Refunds take five days."]
    assert widened(2) == ["Use the box. Add the slip.\n\n- Print the slip\n- Sign it"]


def test_no_text_is_given_twice():
    assert widened(1, 0) == ["Use the box. Add the slip.\n\n- Print the slip\n- Sign it", PAGE[0].text]
    assert widened(2, 0) == ["Use the box. Add the slip.\n\n- Print the slip\n- Sign it", PAGE[0].text]


def test_more_neighbours_reach_further_but_not_past_a_kept_one():
    assert widened(2, neighbours=2)[0].startswith("Send it back. Use the box. Add")
    assert widened(2, 0, neighbours=2)[0].startswith("Use the box. Add")


def test_a_chunk_that_its_page_lost_meanwhile_is_read_alone():
    reader = NeighbourReader(lambda url: PAGE[:2], 1)
    assert reader.widen([ScoredChunk(PAGE[2], 0.5)])[0].chunk.text == PAGE[2].text


def test_everything_but_the_text_stays():
    hit = ScoredChunk(PAGE[1], 0.7, {"words": 3.0})
    wide = NeighbourReader(lambda url: PAGE, 1).widen([hit])[0]
    assert (wide.score, wide.scores) == (0.7, {"words": 3.0})
    assert (wide.chunk.id, wide.chunk.url, wide.chunk.position) == ("c1", URL, 1)


def test_the_chunks_of_a_paragraph_join_to_the_paragraph_again():
    paragraph = " ".join(f"Sentence number {n} says a little more than the one before." for n in range(40))
    page = Page(url=URL, title="Returns", language="en", blocks=(Block(paragraph),))
    chunks = chunk_page(page, ChunkSizes(400, 100))
    assert len(chunks) > 4
    assert joined_text(chunks) == paragraph


def test_a_word_that_two_chunks_share_by_chance_is_not_taken_for_a_repetition():
    assert joined_text([piece(0, "Choose plan a"), piece(1, "a is best")]) == "Choose plan a\n\na is best"
