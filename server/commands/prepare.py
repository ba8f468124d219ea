"""`python -m server prepare`: everything that may be done before the first start."""

import argparse

from server.models.embedded import prepare
from server.settings import Settings

HELP = "prepare the embedded model (done by `run` too; useful when building an image)"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Takes none."""


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Writes the model into MODELS_DIR or DATA_DIR/models; quick when it is there already. A model folder is checked."""
    if (own := settings.models.embedding_folder) is not None:
        from server.models.onnx_folder import load_folder, read_folder  # needed for a model folder only

        load_folder(read_folder(own))
        print(f"The embedding model in {own} is ready.")
        return 0
    prepare(settings.storage.models_folder, on_progress=print)
    print("The embedded model is ready.")
    return 0
