"""What the word index promises, on each database."""

import threading

import pytest
from sqlalchemy import event

from server.domain.chunk import Chunk
from server.indexes import word_writer
from server.indexes.word_tables import note_version, outdated
from server.indexes.words import SqlWordIndex


def chunk(id, text, *, title="", path=(), language="en"):
    return Chunk(id, "https://shop.example/", title, path, text, 0, language)


LAMP = chunk("lamp", "The lamp is made of brass and glows warmly.")
PARCEL = chunk("parcel", "A parcel to the islands takes five working days.")
REFUND = chunk("refund", "We refund the price when you send the lamp back.")


@pytest.fixture
def database(database):
    """The word index makes its own tables, which are not emptied between tests on one server."""
    for site_id in ("shop", "garden", "fresh"):
        SqlWordIndex(database, site_id).drop()
    return database


@pytest.fixture
def words(database):
    return SqlWordIndex(database, "shop")


def ids(hits):
    return [chunk_id for chunk_id, _ in hits]


def test_an_empty_index_finds_nothing(words):
    assert words.search("lamp", 5) == []
    assert words.count() == 0
    assert words.document_frequencies(["lamp"]) == {"lamp": 0}


def test_a_chunk_is_found_by_another_form_of_its_words(words):
    words.add([LAMP, PARCEL, REFUND])
    assert set(ids(words.search("refunding parcels", 5))) == {"parcel", "refund"}


def test_the_best_comes_first_and_scores_are_positive(words):
    words.add([LAMP, PARCEL, REFUND])
    hits = words.search("What happens when I send a lamp back?", 5)
    assert ids(hits) == ["refund", "lamp"]
    assert hits[0][1] > hits[1][1] > 0


def test_no_more_than_the_limit_comes_back(words):
    words.add([LAMP, PARCEL, REFUND])
    assert ids(words.search("lamp back", 1)) == ["refund"]
    assert words.search("lamp", 0) == []


def test_rare_words_count_more_than_frequent_ones(words):
    words.add([chunk(f"n{i}", f"Setting number{i} of the server") for i in range(20)])
    words.add([chunk("rare", "Halyards are sold elsewhere")])
    assert ids(words.search("server halyards", 1)) == ["rare"]


def test_a_word_in_the_title_weighs_more_than_one_in_the_text(words):
    words.add(
        [chunk("text", "About cables and lamps", title="Shop"), chunk("title", "About cables", title="Lamps")]
    )
    assert ids(words.search("lamp", 2)) == ["title", "text"]


def test_a_word_in_a_heading_weighs_more_than_one_in_the_text(words):
    words.add(
        [chunk("text", "Cables and lamps", path=("Shop",)), chunk("heading", "Cables or so", path=("Lamps",))]
    )
    assert ids(words.search("lamp", 2)) == ["heading", "text"]


def test_adding_a_chunk_again_replaces_it(words):
    words.add([LAMP, PARCEL])
    words.add([chunk("lamp", "Curtains are washed cold.")])
    assert words.count() == 2
    assert words.search("brass", 5) == []
    assert ids(words.search("curtain", 5)) == ["lamp"]
    assert words.document_frequencies(["brass", "curtain"]) == {"brass": 0, "curtain": 1}


def test_the_same_id_twice_in_one_call_keeps_the_last(words):
    words.add([LAMP, chunk("lamp", "Curtains are washed cold.")])
    assert words.count() == 1
    assert ids(words.search("curtain", 5)) == ["lamp"]


def test_a_removed_chunk_is_not_found_or_counted(words):
    words.add([LAMP, REFUND])
    words.remove(["lamp", "never-heard-of"])
    assert ids(words.search("lamp", 5)) == ["refund"]
    assert words.document_frequencies(["lamp", "brass"]) == {"lamp": 1, "brass": 0}
    assert words.count() == 1


def test_nothing_to_add_or_remove_is_no_error(words):
    words.add([])
    words.remove([])
    assert words.count() == 0


def test_a_chunk_without_any_word_is_kept(words):
    words.add([chunk("empty", "…"), LAMP])
    assert words.count() == 2
    assert ids(words.search("lamp", 5)) == ["lamp"]


def test_document_frequencies_count_chunks_and_not_occurrences(words):
    words.add([chunk("one", "lamp lamp lamp"), REFUND, PARCEL])
    assert words.document_frequencies(["lamp", "parcel", "zeppelin"]) == {
        "lamp": 2,
        "parcel": 1,
        "zeppelin": 0,
    }


@pytest.mark.parametrize(
    "text",
    [
        '" OR 1=1; DROP TABLE word_chunks --', "title:lamp* NEAR(brass)", "", "   ", "?!…", "%_[]^", "\0\x07", "👍🏽",
        "lamp " * 2000, "\ud800", "()", "-", "NOT AND OR", "'",
    ],
)  # fmt: skip
def test_any_text_is_a_valid_query(words, text):
    words.add([LAMP, PARCEL])
    assert set(ids(words.search(text, 5))) <= {"lamp", "parcel"}


def test_identifiers_are_found_whole_and_by_their_parts(words):
    words.add(
        [chunk("set", "Raise max_connections in the file."), chunk("other", "The max of all connections.")]
    )
    assert ids(words.search("max_connections", 2))[0] == "set"
    assert set(ids(words.search("connections", 2))) == {"set", "other"}


def test_chinese_japanese_and_korean_are_found_inside_a_sentence(words):
    words.add(
        [
            chunk("zh", "小岛的包裹需要五个工作日。", language="zh"),
            chunk("ja", "ランプは真鍮でできています。", language="ja"),
            chunk("ko", "섬으로 보내는 소포는 닷새가 걸립니다.", language="ko"),
        ]
    )
    assert ids(words.search("包裹要多久？", 1)) == ["zh"]
    assert ids(words.search("真鍮のランプ", 1)) == ["ja"]
    assert ids(words.search("소포", 1)) == ["ko"]


def test_a_query_meets_chunks_of_every_language_that_the_site_has(words):
    words.add(
        [
            chunk("de", "Die Installationen dauern fünf Minuten.", language="de"),
            chunk("en", "The installations take five minutes.", language="en"),
            chunk("fr", "Les lampes sont jaunes.", language="fr"),
        ]
    )
    assert set(ids(words.search("Installation", 5))) == {"de", "en"}
    assert ids(words.search("lampe jaune", 5)) == ["fr"]


def test_one_site_does_not_see_another(database, words):
    other = SqlWordIndex(database, "garden")
    words.add([LAMP])
    other.add([chunk("lamp", "A lamp for the garden"), PARCEL])
    assert (words.count(), other.count()) == (1, 2)
    words.drop()
    assert ids(other.search("lamp", 5)) == ["lamp"]


def test_a_dropped_index_is_empty_and_can_be_filled_again(words):
    words.add([LAMP])
    words.drop()
    words.drop()
    assert words.search("lamp", 5) == []
    words.add([REFUND])
    assert ids(words.search("lamp", 5)) == ["refund"]


def test_what_one_process_writes_another_sees_at_once(database, words):
    reader = SqlWordIndex(database, "shop")
    words.add([LAMP])
    assert ids(reader.search("lamp", 5)) == ["lamp"]
    words.add([REFUND])
    assert set(ids(reader.search("lamp", 5))) == {"lamp", "refund"}
    words.remove(["lamp"])
    assert ids(reader.search("lamp", 5)) == ["refund"]


def test_an_index_that_changed_a_lot_equals_one_built_anew(database, words, monkeypatch):
    for module in (word_writer, __import__("server.indexes.postings", fromlist=["_"])):
        monkeypatch.setattr(module, "BLOCK", 8)
    names = ["brass", "curtain", "island", "parcel", "refund", "garden", "cable"]
    state = {}
    for step in range(60):
        new = chunk(
            f"c{step % 23}", " ".join(names[step % 7 :] + [names[step % 3]] * (step % 4)), language="en"
        )
        words.add([new])
        state[new.id] = new
        if step % 3 == 0:
            gone = f"c{(step * 5) % 23}"
            words.remove([gone])
            state.pop(gone, None)
    fresh = SqlWordIndex(database, "fresh")
    fresh.add(list(state.values()))
    assert words.count() == fresh.count() == len(state)
    assert words.document_frequencies(names) == fresh.document_frequencies(names)
    for query in ("brass parcel", "curtain", "garden cable refund"):
        assert dict(words.search(query, 50)) == pytest.approx(dict(fresh.search(query, 50)))


def test_blocks_with_few_living_chunks_are_cleared_away(database, words, monkeypatch):
    for module in (word_writer, __import__("server.indexes.postings", fromlist=["_"])):
        monkeypatch.setattr(module, "BLOCK", 8)
    for step in range(20):
        words.add([chunk(f"c{i}", f"brass lamp number{step}") for i in range(6)])
    with database.connect() as connection:
        blocks = connection.exec_driver_sql("SELECT count(*) FROM word_blocks").scalar_one()
        dead = connection.exec_driver_sql(
            "SELECT count(*) FROM word_postings WHERE token = 'number3'"
        ).scalar_one()
    assert blocks <= 3
    assert dead == 0
    assert words.document_frequencies(["brass", "number19"]) == {"brass": 6, "number19": 6}


def test_readers_and_a_writer_work_at_the_same_time(database, words):
    words.add([LAMP])
    failures = []

    def read():
        try:
            for _ in range(40):
                assert "lamp" in ids(words.search("brass", 100))
        except Exception as error:  # noqa: BLE001  whatever it is, the test reports it
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for i in range(15):
        words.add([chunk(f"more{i}", "More brass for the house")])
    for reader in readers:
        reader.join()
    assert failures == []
    assert words.count() == 16


def test_several_writers_lose_nothing(database):
    def write(name):
        index = SqlWordIndex(database, "shop")
        for i in range(5):
            index.add([chunk(f"{name}{i}", "brass lamp")])

    writers = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert SqlWordIndex(database, "shop").document_frequencies(["brass"]) == {"brass": 20}


def test_the_written_words_move_with_the_chunks_that_hold_them(words, monkeypatch):
    for module in (word_writer, __import__("server.indexes.postings", fromlist=["_"])):
        monkeypatch.setattr(module, "BLOCK", 8)
    words.add([chunk(f"c{i}", f"brass lamp {name}") for i, name in enumerate("abcdefg")])
    words.add([chunk("keep", "A certificate of the halyard")])
    words.remove([f"c{i}" for i in range(7)])
    words.add([chunk("new", "Curtains")])
    blocks = words.vocabulary()
    assert any("certificate" in block for block in blocks)
    assert any("curtains" in block for block in blocks)
    assert not any("brass" in block for block in blocks)


def test_similar_words_come_with_their_distance(words):
    words.add([chunk("a", "Lamps, camps and stamps; Über die Größe")])
    similar = {hit for block in words.vocabulary() for hit in block.similar("lamps", 1)}
    assert similar == {("lamps", 0), ("camps", 1)}
    assert [hit for block in words.vocabulary() for hit in block.similar("grosse", 0)] == [("größe", 0)]


def test_words_of_another_version_are_made_anew(database, words):
    words.add([LAMP, REFUND])
    assert "shop" not in outdated(database)
    with database.begin() as connection:
        note_version(connection, "shop", 1)
    assert "shop" in outdated(database)
    words.renew([LAMP, PARCEL])
    assert "shop" not in outdated(database)
    assert words.count() == 2
    assert ids(words.search("parcel", 5)) == ["parcel"]
    assert words.search("refund", 5) == []


def test_a_renewal_that_was_cut_off_is_begun_again(database, words):
    words.add([LAMP])

    def chunks():
        yield PARCEL
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        words.renew(chunks())
    assert "shop" in outdated(database)
    words.renew([LAMP, PARCEL])
    assert "shop" not in outdated(database)


def test_words_from_before_versions_were_kept_are_outdated(database, words):
    words.add([LAMP])
    with database.begin() as connection:
        connection.exec_driver_sql("DELETE FROM word_sites")
    assert "shop" in outdated(database)
    words.drop()
    assert "shop" not in outdated(database)


def test_one_reading_reads_the_revision_once(database, words):
    words.add([LAMP, PARCEL, REFUND])
    words.search("lamp", 5)
    statements = []

    def note(_connection, _cursor, statement, *_rest):
        statements.append(statement)

    event.listen(database._engine, "before_cursor_execute", note)
    try:
        with words.reading():
            for text in ("lamp back", "refunding parcels"):
                words.search(text, 5)
                words.document_frequencies(["lamp"])
                words.count()
    finally:
        event.remove(database._engine, "before_cursor_execute", note)
    assert sum("FROM word_blocks" in statement for statement in statements) == 1


def test_a_reading_sees_one_state_and_ends_with_it(words):
    words.add([LAMP])
    with words.reading():
        assert words.count() == 1
        with words.reading():
            words.add([PARCEL])
        assert words.count() == 1
        assert ids(words.search("lamp parcel", 5)) == ["lamp"]
    assert words.count() == 2
    assert set(ids(words.search("lamp parcel", 5))) == {"lamp", "parcel"}


def test_a_reading_that_another_thread_ends_is_over(words):
    words.add([LAMP])

    def question():
        with words.reading():
            words.count()
            yield

    asked = question()
    next(asked)
    words.add([PARCEL])
    ending = threading.Thread(target=asked.close)
    ending.start()
    ending.join()
    assert words.count() == 2
