"""Changes of inputs: of any bytes, and of those that know how a kind of file is built.

Every function takes the random numbers of one input, so that an input can be made again from its number.
"""

import copy
import io
import json
import re
import zipfile

from lxml import etree

LONGEST = 200_000
"""Bytes of an input."""
NASTY = [
    b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\r", b"\x0b", b"\x1b[2J",
    b"-1", b"0", b"1e999", b"-0", b"NaN", b"2147483648", b"18446744073709551616", b"9" * 400, b"%s%n", b"../../etc/passwd",
    b"http://[::1", b"http://a:99999/", b"//", b"javascript:alert(1)", b"&#0;", b"&#xD800;", b"&a;", b"]]>", b"<![CDATA[",
    b"<!--", b"'", b'"', b"\\", b"A" * 5000, b"\xe2\x80\xae", b"\xcc\x80" * 500,
]  # fmt: skip
NASTY_XML = [
    "",
    "-1",
    "1e999",
    "99999999999999999999",
    "\u202e",
    "javascript:x",
    "../../x",
    "A" * 5000,
    "http://[",
    "%",
]
DEEP = (50, 500, 3000)


def random_bytes(rng, magic=b""):
    """Nothing but chance, sometimes with the first bytes of a file of this kind."""
    body = rng.randbytes(rng.choice((0, 1, 10, 100, 1000, 5000)))
    return magic + body if rng.random() < 0.5 else body


def any_bytes(rng, data, others):
    """Changes that fit every file: bits, pieces left out, repeated, cut off, or put in from another file."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        at = rng.randint(0, len(data))
        end = min(len(data), at + rng.choice((1, 2, 8, 64, 1000)))
        match rng.randrange(7):
            case 0 if data:
                data[at % len(data)] ^= 1 << rng.randrange(8)
            case 1:
                del data[at:end]
            case 2:
                data[at:at] = bytes(data[at:end]) * rng.choice((1, 2, 50))
            case 3:
                data[at:at] = rng.choice(NASTY)
            case 4 if rng.random() < 0.3:
                del data[at:]
            case 5:
                other = rng.choice(others)
                start = rng.randint(0, len(other))
                data[at:end] = other[start : start + rng.choice((10, 200, 2000))]
            case _:
                data[at:end] = rng.randbytes(end - at)
    return bytes(data[:LONGEST])


def pieces(pattern, openers=()):
    """A mutation for files that are rows of pieces, as `pattern` finds them: tags, lines, tokens.

    `openers` are pieces that nest: some inputs repeat one of them many times.
    """
    split = re.compile(pattern, re.S)

    def mutate(rng, data, others):
        parts = split.findall(data)
        foreign = split.findall(rng.choice(others))
        for _ in range(rng.choice((1, 1, 2, 4, 10))):
            at = rng.randint(0, len(parts))
            end = min(len(parts), at + rng.choice((1, 1, 3, 20)))
            match rng.randrange(8):
                case 0:
                    del parts[at:end]
                case 1:
                    parts[at:at] = parts[at:end] * rng.choice((1, 2, 30))
                case 2 if foreign:
                    start = rng.randrange(len(foreign))
                    parts[at:at] = foreign[start : start + rng.choice((1, 5, 50))]
                case 3 if openers:
                    parts[at:at] = [rng.choice(openers)] * rng.choice(DEEP)
                case 4:
                    parts[at:at] = [rng.choice(NASTY)]
                case 5 if parts[at:end]:
                    parts[at] = re.sub(rb"\d+", lambda _: rng.choice(NASTY[9:17]), parts[at], count=1)
                case 6 if parts[at:end]:
                    parts[at] = any_bytes(rng, parts[at], others)
                case _:
                    rng.shuffle(parts[at:end])
        return b"".join(parts)[:LONGEST]

    return mutate


markup = pieces(
    rb"<[^<>]*>|[^<]+|<",
    [b"<div>", b"<table><tr><td>", b"<ul><li>", b"<b><p>", b"<a href='/x'>", b"<svg><g>", b"<urlset><url>", b"<q ", b"<!--"],
)  # fmt: skip
markdown_text = pieces(
    rb"[^\n]*\n|[^\n]+",
    [b"> ", b"- ", b"  - a\n", b"[", b"![", b"*", b"**a", b"_", b"`", b"```\n", b"|", b"| a ", b"|---|\n", b"1. ", b"<b>", b"\\", b"&"],
)  # fmt: skip
lines = pieces(
    rb"[^\n]*\n|[^\n]+",
    [
        b"User-agent: *\n",
        b"Disallow: /*",
        b"*",
        b"$",
        b"Sitemap: http://a/\n",
        b"#",
        b"%",
        b"https://a.example/\n",
    ],
)
table = pieces(
    rb'"[^"]*"|[^",;\t\n]+|[",;\t\n]',
    [b'"', b",", b";", b"\n", b'""', b"=1+1,", b"\x00,"],
)
pdf_tokens = pieces(
    rb"\d+ \d+ obj|endobj|stream|endstream|<<|>>|\[|\]|/[\w.#]+|[^\s/<>\[\]]+|\s+|.",
    [b"<< /A ", b"[ ", b"( ", b"q ", b"/Kids [3 0 R] ", b"BT ", b"1 0 0 1 0 0 cm ", b"<", b"3 0 R "],
)


def xml_tree(rng, data, others):
    """XML that stays well-formed: elements left out, repeated, moved and nested, other values of attributes."""
    try:
        root = etree.fromstring(data)
    except etree.XMLSyntaxError:
        return markup(rng, data, others)
    if rng.random() < 0.2:
        return markup(rng, data, others)
    for _ in range(rng.choice((1, 2, 5, 20))):
        found = list(root.iter(etree.Element))
        here, there = rng.choice(found), rng.choice(found)
        match rng.randrange(6):
            case 0 if here is not root:
                here.getparent().remove(here)
            case 1:
                there.append(copy.deepcopy(here))
            case 2:
                here.extend([copy.deepcopy(child) for child in here] * rng.choice((1, 5)))
            case 3 if here.attrib:
                here.set(rng.choice(list(here.attrib)), rng.choice(NASTY_XML))
            case 4:
                here.text = rng.choice(NASTY_XML)
            case _:
                here.tag = there.tag
        if len(found) > 5000:
            break
    return etree.tostring(root)


def json_lines(rng, data, others):
    """One JSON object a line: values of other types, fields left out, doubled and deep."""
    found = data.split(b"\n")
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(found))
        try:
            found[at] = json.dumps(
                _other(rng, json.loads(found[at])), ensure_ascii=rng.random() < 0.5
            ).encode("utf-8", "surrogatepass")
        except (ValueError, RecursionError):
            found[at] = any_bytes(rng, found[at], others)
    if rng.random() < 0.2:
        at = rng.randrange(len(found))
        found[at] = b'{"question":' + b"[" * rng.choice(DEEP) * 20
    return b"\n".join(found)[:LONGEST]


def _other(rng, value):
    """The value with one of its parts replaced."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        name = rng.choice(list(value))
        changed = {**value, name: _other(rng, value[name])}
        if rng.random() < 0.2:
            changed[str(rng.choice(NASTY), "latin-1")] = changed.pop(name)
        return changed
    if isinstance(value, list) and value and rng.random() < 0.7:
        at = rng.randrange(len(value))
        return [*value[:at], _other(rng, value[at]), *value[at + 1 :]]
    nested = current = []
    for _ in range(200):
        current.append(inner := [])
        current = inner
    text = rng.choice(NASTY).decode("utf-8", "replace")
    others = [
        None,
        True,
        0,
        -1,
        2**63,
        10**30,
        1e308,
        float("nan"),
        float("inf"),
        "",
        "\ud800",
        "\x00",
        [],
        {},
    ]
    return rng.choice([*others, text, nested, [text] * 100, {"a": value}, [value], str(value)])


def zipped(*members):
    """A mutation for zip archives: of the archive's bytes, or of a member by the first of `members`
    (pattern of its name, mutation) that fits."""

    def mutate(rng, data, others):
        if rng.random() < 0.15:
            return any_bytes(rng, data, others)
        files = unzipped(data)
        if not files:
            return any_bytes(rng, data, others)
        for _ in range(rng.randint(1, 3)):
            name = rng.choice(list(files))
            fitting = next((change for pattern, change in members if re.search(pattern, name)), any_bytes)
            files[name] = fitting(rng, files[name], [files[name]])
        if rng.random() < 0.1:
            files.pop(rng.choice(list(files)))
        if rng.random() < 0.1:
            files[rng.choice(["../../up.md", "/etc/passwd", "a" * 300, "con.md", "x\x00.md"])] = b"text"
        return repacked(rng, files)

    return mutate


def repacked(rng, files):
    """A zip archive of name -> bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return out.getvalue()


def unzipped(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
