"""Questions that try to change the rules instead of asking about the site.

The rules cannot be changed by a question anyway: the embedded writer only quotes, and a model's claims
are verified. This guard saves the model call and keeps such attempts visible to the operator.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata

from server.domain.protocols import Verdict
from server.domain.question import Question

_COMMANDS = re.compile(
    r"""(ignore|disregard|forget|override)\W+(\w+\W+){0,3}(previous|prior|above|earlier|all|your|these|those)
          \W+(\w+\W+){0,2}(instruction|rule|prompt|direction|guideline)
      | (ignore|disregard|forget|override)\W+(\w+\W+){0,2}(instruction|rule|prompt|guideline)s?\W+
          (above|before|so\W+far|you\W+were\W+given)
      | (reveal|show|print|repeat|output|leak|tell\W+me)\W+(\w+\W+){0,3}(system|hidden|initial|secret)\W+
          (prompt|instruction|message|rule)
      | \byou\W+are\W+now\W+(?!able\b)\w+ | \b(pretend|act)\W+(to\W+be|as|like)\W+(an?\W+)?(unrestricted|different|evil|jailbroken|dan)\b
      | (ignoriere|vergiss)\W+(\w+\W+){0,3}(anweisung|regel) | (ignore[zr]?|oublie[zr]?)\W+(\w+\W+){0,3}(instruction|règle|consigne)
      | (ignora|olvida)\W+(\w+\W+){0,3}(instruccion|instrucción|regla) | (игнорируй|забудь)\W+(\w+\W+){0,3}(инструкци|правил)
      | 忽略.{0,8}(指令|指示|规则|提示) | (無視|忘れ).{0,8}(指示|命令|ルール)|(指示|命令|ルール).{0,4}(無視|忘れ)
      | (이전|앞의|모든).{0,6}(지시|명령|규칙).{0,6}(무시|잊)
    """,
    re.I | re.X,
)
_BASE64 = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")


class InjectionGuard:
    """Implements Guard by patterns, over the text as shown and as hidden (zero-width, base64)."""

    name = "injection"

    def check(self, question: Question) -> Verdict:
        """Refuses a question that holds a command to the model itself."""
        for text in _readings(question.text):
            if found := _COMMANDS.search(text):
                return Verdict(allowed=False, reason=f"command to the model: {found.group()[:60]!r}")
        return Verdict(allowed=True)


def _readings(text: str) -> list[str]:
    visible = "".join(char for char in text if unicodedata.category(char) != "Cf")
    readings = [unicodedata.normalize("NFKC", visible)]
    for encoded in _BASE64.findall(visible):
        try:
            readings.append(base64.b64decode(encoded, validate=True).decode())
        except (binascii.Error, UnicodeDecodeError):
            continue  # not base64 after all
    return readings
