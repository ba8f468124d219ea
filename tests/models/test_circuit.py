import pytest

from server.domain.protocols import ModelError
from server.models.resilient import Circuit


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def circuit(clock):
    return Circuit(failures=3, pause_s=30, clock=clock)


def fail(circuit, times):
    for _ in range(times):
        circuit.failed(ModelError("server_error", "it failed"))


def test_failures_up_to_the_limit_change_nothing(circuit):
    fail(circuit, 2)
    circuit.check()


def test_a_success_starts_the_count_anew(circuit):
    fail(circuit, 2)
    circuit.succeeded()
    fail(circuit, 2)
    circuit.check()


def test_after_the_limit_calls_fail_at_once_with_the_last_kind_and_the_time_that_is_left(circuit, clock):
    fail(circuit, 3)
    clock.now += 10
    with pytest.raises(ModelError, match=r"it failed .*next try in 20 s") as caught:
        circuit.check()
    assert caught.value.kind == "server_error"
    assert caught.value.permanent


def test_after_the_pause_one_call_tries_while_the_others_still_fail(circuit, clock):
    fail(circuit, 3)
    clock.now += 31
    circuit.check()
    with pytest.raises(ModelError):
        circuit.check()


def test_a_try_that_succeeds_lets_all_through(circuit, clock):
    fail(circuit, 3)
    clock.now += 31
    circuit.check()
    circuit.succeeded()
    circuit.check()
    circuit.check()


def test_a_try_that_fails_begins_the_pause_anew(circuit, clock):
    fail(circuit, 3)
    clock.now += 31
    circuit.check()
    fail(circuit, 1)
    clock.now += 29
    with pytest.raises(ModelError):
        circuit.check()
    clock.now += 2
    circuit.check()
