"""The command line of a benchmark."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter


def argument_parser(text: str | None) -> ArgumentParser:
    """Return a parser whose help shows this text, a module's docstring, as it is written."""
    return ArgumentParser(description=text, formatter_class=RawDescriptionHelpFormatter)
