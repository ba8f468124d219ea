"""`python -m server.indexes.chroma_server run ...`: Chroma's own command line, without its client.

Chroma's program `chroma` also imports the client: 50 MB and seconds that the server never needs.
"""

import sys

import chromadb_rust_bindings  # type: ignore[import-untyped]

if __name__ == "__main__":
    chromadb_rust_bindings.cli(["chroma", *sys.argv[1:]])
