from argparse import Namespace

import numpy as np
import pytest

from server.commands import prepare
from server.domain.protocols import ModelError
from server.models.onnx_folder import FolderEmbedder
from server.models.table import EMBEDDERS
from server.runtime.models import open_document_embedder, open_embedder, open_query_embedder
from server.settings import Settings
from tests.models.tiny_model import DIMENSIONS, write_model

MEAN = {"1_Pooling/config.json": {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}}
FIRST = {"1_Pooling/config.json": {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}}


def embedder(folder, **options):
    return EMBEDDERS.load("folder")(folder, **options)


def test_words_of_two_languages_that_mean_the_same_are_near(tmp_path):
    bread, brot, bicycle = embedder(write_model(tmp_path)).embed(["bread", "brot", "bicycle"])
    assert np.dot(bread, brot) > 0.9 > np.dot(bread, bicycle) + 0.5


def test_every_vector_has_length_one_and_the_dimensions_of_the_model(tmp_path):
    vectors = embedder(write_model(tmp_path), threads=2).embed(["the bread", "", "\ud800", "brot " * 9000])
    assert [len(vector) for vector in vectors] == [DIMENSIONS] * 4
    assert np.allclose([np.linalg.norm(vector) for vector in vectors], 1.0)


def test_the_pooling_is_the_one_that_the_folder_names(tmp_path):
    mean = embedder(write_model(tmp_path / "mean", extra=MEAN)).embed(["bread bicycle"])[0]
    first = embedder(write_model(tmp_path / "first", extra=FIRST)).embed(["bread bicycle"])[0]
    bread = embedder(write_model(tmp_path / "usual")).embed(["bread"])[0]
    assert np.allclose(first, bread)
    assert not np.allclose(mean, bread)


def test_the_model_may_be_in_the_folder_onnx(tmp_path):
    folder = write_model(
        tmp_path, place="onnx/model.onnx", inputs=("input_ids", "token_type_ids", "position_ids")
    )
    assert len(embedder(folder).embed(["bread"])[0]) == DIMENSIONS


def test_a_text_is_cut_at_the_length_that_the_folder_names(tmp_path):
    folder = write_model(tmp_path, extra={"sentence_bert_config.json": {"max_seq_length": 8}})
    short, long = embedder(folder).embed(["bread " * 8, "bread " * 8 + "bicycle " * 50])
    assert short == long


def test_another_model_has_another_fingerprint_and_a_copy_has_the_same(tmp_path):
    one, copy, other = (
        write_model(tmp_path / name, seed=seed) for name, seed in (("a", 0), ("b", 0), ("c", 1))
    )
    assert embedder(one).fingerprint == embedder(copy).fingerprint != embedder(other).fingerprint
    prefixed = embedder(one, prefixes=("query:", "passage:"))
    assert prefixed.fingerprint != embedder(one, prefixes=("", "")).fingerprint


def test_queries_and_passages_get_their_prefixes_and_share_one_index(tmp_path):
    settings = Settings.of(
        embedding_model=str(write_model(tmp_path / "model")),
        embedding_query_prefix="query:",
        embedding_passage_prefix="passage:",
        embedding_languages="de,en",
        data_dir=tmp_path,
    )
    query = open_query_embedder(settings, None)
    passage = open_document_embedder(settings, None)
    assert query.fingerprint == passage.fingerprint
    assert query.languages == frozenset({"de", "en"})
    assert query.embed(["bread"])[0] == FolderEmbedder(tmp_path / "model").embed(["query: bread"])[0]
    assert passage.embed(["bread"])[0] == FolderEmbedder(tmp_path / "model").embed(["passage: bread"])[0]


def test_a_name_without_a_path_is_a_providers_model(tmp_path):
    settings = Settings.of(embedding_model="BAAI/bge-m3", openai_base_url="http://127.0.0.1:9/v1")
    assert settings.models.uses_embedding_service
    assert open_embedder(settings, threads=1).name == "BAAI/bge-m3"


@pytest.mark.parametrize(
    ("missing", "extra", "message"),
    [
        ("model.onnx", {}, "has no model.onnx"),
        ("tokenizer.json", {}, "has no tokenizer.json"),
        (
            "",
            {"1_Pooling/config.json": {"pooling_mode_weightedmean_tokens": True}},
            "asks for pooling_mode_weighted",
        ),
        ("", {"1_Pooling/config.json": "{"}, "config.json cannot be read"),
        ("", {"config.json": []}, "config.json must hold a JSON object"),
        ("", {"modules.json": [{"type": "sentence_transformers.models.Dense"}]}, "needs a Dense layer"),
        ("", {"tokenizer.json": "{}"}, "is not a tokenizer"),
        ("", {"model.onnx": "no graph"}, "is not an ONNX model"),
    ],
)
def test_a_folder_that_cannot_work_is_one_error_that_names_the_file(tmp_path, missing, extra, message):
    write_model(tmp_path, extra=extra)
    (tmp_path / missing).unlink() if missing else None
    with pytest.raises(ModelError, match=message) as raised:
        embedder(tmp_path).embed(["bread"])
    assert raised.value.kind == "wrong_model"
    assert raised.value.permanent


def test_a_model_with_other_inputs_is_no_text_encoder(tmp_path):
    write_model(tmp_path, inputs=("input_ids", "pixel_values"))
    with pytest.raises(ModelError, match="other inputs than a text encoder: input_ids, pixel_values"):
        embedder(tmp_path).embed(["bread"])


def test_prepare_loads_the_model_of_the_folder_or_says_what_is_wrong(tmp_path, capsys):
    settings = Settings.of(embedding_model=str(write_model(tmp_path / "model")), data_dir=tmp_path)
    assert prepare.run(Namespace(database=False), settings) == 0
    assert f"The embedding model in {tmp_path / 'model'} is ready." in capsys.readouterr().out
    with pytest.raises(ModelError, match="is not a folder"):
        prepare.run(
            Namespace(database=False), Settings.of(embedding_model=str(tmp_path / "none"), data_dir=tmp_path)
        )


def test_prepare_brings_the_database_up_to_date_if_asked_and_uses_the_model_of_an_image(
    tmp_path, model_cache, capsys
):
    settings = Settings.of(data_dir=tmp_path / "data", models_dir=str(model_cache))
    assert prepare.run(Namespace(database=True), settings) == 0
    assert capsys.readouterr().out == "The embedded model is ready.\nThe sqlite database is up to date.\n"
    assert (tmp_path / "data" / "docent.sqlite3").exists()
    assert not (tmp_path / "data" / "models").exists()


def test_a_folder_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(ModelError, match="is not a folder"):
        embedder(tmp_path / "none")
