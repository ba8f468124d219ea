"""`python -m server prepare`: everything that may be done before the first start."""

import argparse
from contextlib import closing

from server.models.embedded import prepare
from server.runtime.runtime import open_runtime
from server.settings import Settings

HELP = "prepare the embedded model, as `run` does; useful for building an image"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Whether the database is prepared too."""
    parser.add_argument("--database", action="store_true", help="also bring the database up to date")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Writes the model where MODELS_DIR says; quick when it is there already. A model folder is checked."""
    if (own := settings.models.embedding_folder) is not None:
        from server.models.onnx_folder import load_folder, read_folder  # needed for a model folder only

        load_folder(read_folder(own))
        print(f"The embedding model in {own} is ready.")
    else:
        prepare(settings.storage.models_folder, on_progress=print)
        print("The embedded model is ready.")
    if options.database:
        with closing(open_runtime(settings)) as runtime:
            print(f"The {runtime.database.dialect} database is up to date.")
    return 0
