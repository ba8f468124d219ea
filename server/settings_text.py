"""Settings as text: `env.example`, and where each value comes from."""

from __future__ import annotations

import re
from pathlib import Path

from server.settings import Settings, as_text

HERE = Path(__file__).parent
FILES = (HERE / "settings.py", *sorted(HERE.glob("*_settings.py")))


def env_example() -> str:
    """The text of `env.example`: every setting with its default and meaning."""
    sources = "".join(path.read_text(encoding="utf-8") for path in FILES)
    groups = re.findall(r"^    # --- (.+)$|^    (\w+): ", sources, re.M)
    lines = ["# Copy to .env and change what you need; the environment wins over .env.", ""]
    for group, name in groups:
        if group:
            lines += ["", f"# --- {group}", ""]
        elif name in Settings.model_fields:
            field = Settings.model_fields[name]
            lines += [f"# {field.description}", f"#{name.upper()}={as_text(field.default)}"]
    return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"
