"""`python -m server.indexes.chroma_server run ...`: Chroma's own command line, without its client.

The command `chroma` also imports the client, which costs 50 MB and seconds and is not needed by the server.
"""

import sys

import chromadb_rust_bindings  # type: ignore[import-untyped]

if __name__ == "__main__":
    chromadb_rust_bindings.cli(["chroma", *sys.argv[1:]])
