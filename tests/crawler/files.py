"""Files as people make them, for the tests of what reads them."""

import io
import zipfile

import docx
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from fpdf import FPDF
from pypdf import PdfReader, PdfWriter

LOREM = "The lamp is checked by hand before it leaves the workshop and again when it arrives at the shop. "


def pdf(pages, *, title="", header="", bookmarks=False, links=()):
    """A PDF of `pages`: each a list of (kind, text) with the kinds h1, h2, p, item and code."""
    made = FPDF()
    made.set_margin(20)
    made.set_auto_page_break(False)
    if title:
        made.set_title(title)
    for number, parts in enumerate(pages, 1):
        made.add_page()
        if header:
            made.set_font("Helvetica", size=9)
            made.text(20, 12, header)
            made.text(100, 290, f"Page {number} of {len(pages)}")
        for kind, text in parts:
            _part(made, kind, text, bookmarks)
    for page, address in links:
        made.page = page
        made.link(20, 20, 50, 10, address)
    made.page = len(pages)
    return bytes(made.output())


def _part(made, kind, text, bookmarks):
    if kind in ("h1", "h2"):
        if bookmarks:
            made.start_section(text, level=int(kind[1]) - 1)
        made.set_font(
            "Helvetica", "B" if bookmarks else "", size=11 if bookmarks else {"h1": 20, "h2": 15}[kind]
        )
        made.ln(6)
        made.multi_cell(0, 9, text, new_x="LMARGIN", new_y="NEXT")
    elif kind == "code":
        made.set_font("Courier", size=10)
        for line in text.split("\n"):
            made.cell(0, 5, line, new_x="LMARGIN", new_y="NEXT")
    else:
        made.set_font("Helvetica", size=11)
        made.ln(3 if kind == "p" else 0)
        made.multi_cell(0, 5, text, new_x="LMARGIN", new_y="NEXT")


def locked_pdf(body, user_password, algorithm="AES-256"):
    """The same PDF, encrypted; it opens with `user_password`."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(body)))
    writer.encrypt(user_password, owner_password="the owner's", algorithm=algorithm)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def raw_pdf(
    content,
    extra="",
    resources="<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>",
):
    """A PDF of one page with this content stream, written by hand."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources {resources} >>",
    ]
    out = b"%PDF-1.4\n"
    offsets = []
    for number, text in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{text}\nendobj\n".encode()
    offsets.append(len(out))
    out += (
        f"4 0 obj\n<< /Length {len(content)} {extra} >>\nstream\n".encode()
        + content
        + b"\nendstream\nendobj\n"
    )
    start = len(out)
    out += f"xref\n0 {len(offsets) + 1}\n0000000000 65535 f \n".encode()
    out += "".join(f"{offset:010d} 00000 n \n" for offset in offsets).encode()
    return out + f"trailer\n<< /Size {len(offsets) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()


def word(fill, title=""):
    """A DOCX file that `fill(document)` writes."""
    document = docx.Document()
    document.core_properties.title = title
    fill(document)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def hyperlink(paragraph, text, address):
    """python-docx writes none by itself."""
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink"
    element = OxmlElement("w:hyperlink")
    element.set(qn("r:id"), paragraph.part.relate_to(address, kind, is_external=True))
    run = OxmlElement("w:r")
    words = OxmlElement("w:t")
    words.text = text
    run.append(words)
    element.append(run)
    paragraph._p.append(element)


def rewritten(body, change):
    """The zip archive `body` with each part as `change(name, data)` gives it; None leaves it out."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = change(name, old.read(name))
            if data is not None:
                new.writestr(name, data)
    return out.getvalue()


def archive(files):
    """A zip archive of name -> bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return out.getvalue()


def bzip2_bomb(name, said_size=1000):
    """A zip archive of some hundred bytes whose only entry says that it is small, and unpacks to 180 MB."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_BZIP2) as made, made.open(name, "w") as entry:
        for _ in range(180):
            entry.write(bytes(1_000_000))
    return out.getvalue().replace((180_000_000).to_bytes(4, "little"), said_size.to_bytes(4, "little"))
