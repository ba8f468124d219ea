"""Chromium marks exactly the quoted words: what it paints red is looked at, on pages that make it hard."""

import base64
from io import BytesIO

import pytest

from crawler.extractors.html import extract
from server.answering.citations import Citer
from server.answering.proofs import Proof
from server.answering.units import units
from server.domain.chunk import ScoredChunk
from server.indexing.chunker import ChunkSizes, chunk_page
from tests.crawler.conftest import page_of
from tests.websites import Website, serve
