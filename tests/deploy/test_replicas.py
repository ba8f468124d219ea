"""The most frequent fault of a cluster; `make test-replicas` does all of them."""

from tests.replicas.cluster import running_cluster
from tests.replicas.visitors import visitors


def test_an_answer_of_a_killed_replica_is_finished_by_the_other_one(model_cache, certificate):
    with running_cluster(model_cache, certificate, workers=1) as cluster:
        with visitors(cluster) as load:
            load.wait_for_stream_at(cluster.web[0])
            load.fault()
            cluster.web[0].kill()
            load.wait_for_answers(4)
        assert load.check("kill -9 of a web replica"), "nothing was resumed"
