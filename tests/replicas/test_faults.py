"""Each fault that a cluster meets, done to a real one while visitors ask and a site is crawled.

`pytest -s` prints a line for each: how many questions were in flight, failed, and were resumed.
"""

from tests.replicas.visitors import visitors


def test_nobody_notices_when_nothing_fails(cluster):
    with visitors(cluster) as load:
        load.fault()
        load.wait_for_answers(6)
    assert load.check("none") == []


def test_a_killed_web_replica_costs_no_answer(cluster):
    with visitors(cluster) as load:
        load.wait_for_streams()
        load.fault()
        cluster.web[0].kill()
        load.wait_for_answers(8)
        cluster.web[0].restart()
    load.check("kill -9 of a web replica")
