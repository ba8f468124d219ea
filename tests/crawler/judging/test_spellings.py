from crawler.discovery.urls import Spellings

HOST = "https://example.com"


def test_an_index_file_is_learned_from_one_pair() -> None:
    known = Spellings()
    assert known.folder(f"{HOST}/docs/index.html") == f"{HOST}/docs/index.html"
    known.same(f"{HOST}/", f"{HOST}/index.html")
    assert known.folder(f"{HOST}/docs/index.html") == f"{HOST}/docs/"
    assert known.folder(f"{HOST}/docs/index.php") == f"{HOST}/docs/index.php"


def test_a_slash_at_the_end_is_learned_from_two_pairs() -> None:
    known = Spellings()
    known.same(f"{HOST}/a", f"{HOST}/a/")
    assert known.twin(f"{HOST}/c") == ""
    known.same(f"{HOST}/b/", f"{HOST}/b")
    assert known.twin(f"{HOST}/c") == f"{HOST}/c/"
    assert known.twin(f"{HOST}/c/") == f"{HOST}/c"
    assert known.twin(f"{HOST}/c.html") == ""


def test_one_pair_that_differs_ends_it() -> None:
    known = Spellings()
    known.same(f"{HOST}/a", f"{HOST}/a/")
    known.same(f"{HOST}/b", f"{HOST}/b/")
    known.different(f"{HOST}/d", f"{HOST}/d/")
    assert known.twin(f"{HOST}/c") == ""


def test_equal_pages_of_other_names_teach_nothing() -> None:
    known = Spellings()
    known.same(f"{HOST}/a", f"{HOST}/print/a")
    known.same(f"{HOST}/a", f"{HOST}/a?x=1")
    assert known.twin(f"{HOST}/c") == ""
    assert known.folder(f"{HOST}/index.html") == f"{HOST}/index.html"
