"""How long a crawl may take is said only when it can be said."""

from server.jobs.crawl_intake import CrawlPace


def paced(*seen):
    at = [0.0]
    pace = CrawlPace(lambda: at[0])
    for moment, found, done in seen:
        at[0] = moment
        pace.note(found, done)
    return pace


def test_nothing_is_foretold_from_nothing():
    assert (paced().rate, paced().remaining_s) == (0.0, None)
    assert paced((0, 10, 0)).remaining_s is None
    assert paced((0, 10, 0), (2, 10, 5)).remaining_s is None


def test_what_is_left_takes_as_long_as_it_took_of_late():
    pace = paced((0, 100, 0), (10, 100, 20))
    assert (pace.rate, pace.remaining_s) == (2.0, 40)


def test_while_as_much_is_found_as_is_done_the_end_is_not_in_sight():
    assert paced((0, 100, 0), (10, 130, 30)).remaining_s is None
    assert paced((0, 100, 0), (10, 110, 30)).remaining_s == 40


def test_only_the_last_minute_counts():
    pace = paced((0, 1000, 0), (30, 1000, 300), (60, 1000, 300), (95, 1000, 335), (115, 1000, 355))
    assert pace.rate == 1.0


def test_a_crawl_that_stands_still_has_no_end():
    assert paced((0, 10, 5), (20, 10, 5)).remaining_s is None
