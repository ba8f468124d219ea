"""Whether two questions ask the same, and how alike they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from unicodedata import normalize

from server.domain.protocols import Embedder, ModelError, Vector
from server.indexes.tokens import tokens
from server.retrieval.parts import cosines
from server.retrieval.rarity import Rarity

WORDS_SHARE = 0.3
"""Share of the words in the likeness of two questions; the rest is the nearness of their meanings."""
BATCH = 64

_NOT = re.compile(
    r"""\b(not|no|never|without|cannot|unable|\w+n['’]t|nicht|kein\w*|nie|niemals|ohne|ne|pas|jamais|sans|nunca|sin
      |não|nem|sem|не|нет|нельзя|без)\b | (?<!\w)(لا|ليس|لم|لن|غير|بدون)(?!\w)
      | 不|没|沒|無|无|非|未 | ない|ません | 않|없|못|안\ """,
    re.I | re.X,
)
_ASKS = {
    "time": r"when|wann|quand|cu[aá]ndo|quando|когда|什么时候|何时|いつ|언제|متى",
    "place": r"where|wo|où|d[oó]nde|onde|где|куда|哪里|哪儿|どこ|어디|أين",
    "person": r"who|whom|wer|wen|wem|qui[eé]n|quem|кто|谁|誰|だれ|누가|누구",
}
_WHICH_WAY = re.compile(r"\b(to|into|from|nach|von|vers|depuis|hacia|desde|para|в|из|на)\b", re.I)

_IDLE = {
    "en": """a an the please kindly can could would do does i we you is are there any some hi hello hey thanks
        thank actually just exactly""",
    "de": """der die das den dem des ein eine einen einem einer bitte kann können könnte ich wir man ist sind
        mal denn hallo""",
    "fr": "le la les l un une des s'il vous plaît est-ce peux puis je on nous est sont bonjour merci",
    "es": "el la los las un una unos unas por favor puedo podemos se es son hola gracias",
    "pt": "o a os as um uma uns umas favor posso podemos se é são olá obrigado obrigada",
}
_IDLE_WORDS = {language: frozenset(words.split()) for language, words in _IDLE.items()}


def plain(text: str) -> str:
    """One spelling of questions that differ in case, white space and the marks around them alone."""
    folded = " ".join(normalize("NFKC", text).casefold().replace("’", "'").split())
    return folded.strip(" ?!.…¿¡。？！؟,;:\"'“”„«»")


def essence(text: str, language: str) -> tuple[str, ...]:
    """What a question is made of, in its order, without the words that carry no meaning in it.

    Two questions of one essence ask the same: every question word, negation, number, name and preposition
    is part of it. Languages of which the idle words are not known keep all words.
    """
    idle = _IDLE_WORDS.get(language, frozenset())
    words = re.findall(r"[\w][\w.\-/+#'@&]*[\w+#]|\w", re.sub(r"\bhow to\b", "how", plain(text)))
    return tuple(_stem(word, language) for word in words if word not in idle)


def contradicts(one: str, other: str) -> bool:
    """Whether two questions differ in a number, a version, a denial, a direction, or in whether they ask for
    a time, a place or a person: likeness does not see that."""
    return bool(contradiction(one, other))


def contradiction(one: str, other: str) -> str:
    """In what two questions differ so that they cannot be the same: "numbers", "denial", "kind" (of fact that
    is asked for) or "direction"; empty when in nothing."""
    if _numbers(one) != _numbers(other):
        return "numbers"
    if bool(_NOT.search(one)) != bool(_NOT.search(other)):
        return "denial"
    ask, ask_other = _asked_for(one), _asked_for(other)
    if ask and ask_other and not ask & ask_other:
        return "kind"
    return "direction" if _turned_round(one, other) else ""


class Likeness:
    """How alike questions are, in [0, 1]: by meaning where the embedder reads their language, and by the
    words that they share, rare ones counting more."""

    def __init__(self, rarity: Rarity, embedder: Embedder) -> None:
        self._rarity = rarity
        self._embedder = embedder

    def of(self, text: str, others: Sequence[str], language: str) -> list[float]:
        """In the order of `others`. Without the embedder, when it fails, the words decide alone."""
        asked = frozenset(tokens(text, language))
        shared = [self._shared(asked, frozenset(tokens(other, language))) for other in others]
        reads = not self._embedder.languages or language in self._embedder.languages
        try:
            vectors = self._vectors([text, *others]) if reads and others else []
        except ModelError:
            vectors = []
        if not vectors:
            return shared
        near = cosines(vectors[0], vectors[1:])
        return [
            (1 - WORDS_SHARE) * cosine + WORDS_SHARE * words
            for cosine, words in zip(near, shared, strict=True)
        ]

    def prepare(self, texts: Iterable[str]) -> None:
        """Has the embedder remember them, so that no visitor waits for it. Never fails."""
        try:
            self._vectors(list(texts))
        except ModelError:
            return

    def _vectors(self, texts: Sequence[str]) -> list[Vector]:
        batches = (texts[start : start + BATCH] for start in range(0, len(texts), BATCH))
        return [vector for batch in batches for vector in self._embedder.embed(batch)]

    def _shared(self, one: frozenset[str], other: frozenset[str]) -> float:
        weights = self._rarity.weights(sorted(one | other))
        total = sum(weights.values())
        return sum(weights[token] for token in one & other) / total if total else 0.0


def _asked_for(text: str) -> set[str]:
    return {kind for kind, words in _ASKS.items() if re.search(_word(words), plain(text))}


def _word(words: str) -> str:
    """Whole words, where there are spaces between them."""
    return rf"(?<![a-zà-ÿа-я])(?:{words})(?![a-zà-ÿа-я])"


def _turned_round(one: str, other: str) -> bool:
    """From PDF to Word is not from Word to PDF."""
    if not (_WHICH_WAY.search(one) and _WHICH_WAY.search(other)):
        return False
    words, others = essence(one, ""), essence(other, "")
    return words != others and sorted(words) == sorted(others)


def _numbers(text: str) -> list[str]:
    return sorted(re.findall(r"\d[\w.,:/-]*\w|\d", plain(text)))


def _stem(word: str, language: str) -> str:
    held = tokens(word, language)
    return held[0] if len(held) == 1 and word.isalpha() else word
