import pytest

from crawler.extractors import DOCX, content_type_of


@pytest.mark.parametrize(
    ("url", "declared", "body", "expected"),
    [
        ("/a", "text/html", b"", "text/html"),
        ("/a.pdf", "text/html", b"", "text/html"),
        ("/a", "application/pdf", b"", "application/pdf"),
        ("/a", "application/x-pdf", b"", "application/pdf"),
        ("/a.md", "text/plain", b"", "text/markdown"),
        ("/a", "text/x-markdown", b"", "text/markdown"),
        ("/a.txt", "text/plain", b"", "text/plain"),
        ("/a.PDF?v=1", "application/octet-stream", b"", "application/pdf"),
        ("/a.docx", "application/octet-stream", b"PK\x03\x04", DOCX),
        ("/a.docx", "application/zip", b"", DOCX),
        ("/a.md", "", b"", "text/markdown"),
        ("/get?id=3", "application/octet-stream", b"%PDF-1.7", "application/pdf"),
        ("/a.bin", "application/octet-stream", b"\0", "application/octet-stream"),
        ("/page", "", b"  <html>", "text/html"),
        ("/a.png", "image/png", b"", "image/png"),
        ("/a.pdf", "image/png", b"", "image/png"),
    ],
)
def test_the_type_is_what_is_declared_then_the_suffix_then_the_first_bytes(url, declared, body, expected):
    assert content_type_of(f"https://example.com{url}", declared, body) == expected
