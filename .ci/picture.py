"""Takes the picture of the README, docs/images/docent.png, from a running Docent that answers for its own documentation.

Run it in the folder of the repository: `.venv/bin/python .ci/picture.py`. It needs Chromium and Pillow.
"""

import io
import json
import shutil
import sys
import tempfile
import urllib.request
from pathlib import Path

sys.path.insert(0, ".")

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from tests.conftest import CHROMIUM_FLAGS
from tests.journey.conftest import Docent

TARGET = Path("docs/images/docent.png")
ASKED = "Does Docent send my data anywhere?"
OTHERS = (
    "How do I change the colour of the widget?", "Does Docent need an API key?", "Do you sell bicycles?",
    "How do I make a backup?", "Can I talk to a person?", "How do I use Ollama?", "Hello!",
    "How do I put the widget into WordPress?", "How long are conversations kept?", "Which databases can I use?", "What is the weather tomorrow?",
)  # fmt: skip


def ask(url: str, question: str) -> None:
    """Ask as a new visitor."""
    token = json.loads(post(f"{url}/api/v1/visitors", {"site": "docs"}))["token"]
    post(f"{url}/api/v1/chat", {"message": question}, {"Authorization": f"Bearer {token}"})


def post(address: str, body: object, headers: dict[str, str] | None = None) -> bytes:
    """Send JSON; return the answer."""
    given = {"Content-Type": "application/json"} | (headers or {})
    with urllib.request.urlopen(urllib.request.Request(address, json.dumps(body).encode(), given)) as answer:
        return bytes(answer.read())


def pictures(browser: Browser, docent: Docent, link: str) -> tuple[bytes, bytes]:
    """Return the widget with an answer, and the overview of the dashboard."""
    page = browser.new_page(viewport={"width": 420, "height": 760}, device_scale_factor=1.5)
    page.goto(f"{docent.url}/demo/docs/inline")
    chat = page.locator("site-chat")
    chat.get_by_role("textbox").fill(ASKED)
    chat.get_by_role("textbox").press("Enter")
    chat.get_by_role("button", name="Helpful", exact=True).wait_for()
    page.wait_for_timeout(800)
    widget = chat.screenshot()
    page = browser.new_page(viewport={"width": 1180, "height": 760}, device_scale_factor=1)
    page.goto(link)
    page.locator("input[type=email]").fill("ada@example.com")
    for field in page.locator("input[type=password]").all():
        field.fill("correct horse battery staple")
    page.locator("main form button").first.click()
    page.goto(f"{docent.url}/admin/")
    return widget, page.screenshot()


def main() -> None:
    """Take the pictures and put them side by side."""
    with tempfile.TemporaryDirectory() as folder:
        docent = Docent(Path(folder) / "data")
        docent.start()
        try:
            docent.wait_until_ready(180)
            for question in (ASKED, *OTHERS):
                ask(docent.url, question)
            link = (Path(folder) / "data" / "setup-link.txt").read_text().strip()
            with sync_playwright() as playwright:
                program = shutil.which("chromium") or shutil.which("google-chrome")
                browser = playwright.chromium.launch(executable_path=program, args=CHROMIUM_FLAGS)
                parts = [
                    Image.open(io.BytesIO(part)).convert("RGB") for part in pictures(browser, docent, link)
                ]
        finally:
            docent.stop()
    parts = [part.resize((round(part.width * 760 / part.height), 760)) for part in parts]
    whole = Image.new("RGB", (sum(part.width for part in parts) + 20, 760), "white")
    whole.paste(parts[0], (0, 0))
    whole.paste(parts[1], (parts[0].width + 20, 0))
    whole.quantize(128).save(TARGET, optimize=True)
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
