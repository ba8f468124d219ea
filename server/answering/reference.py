"""Whether a question leans on what was said before it, in ten languages and one more.

Three ways of leaning: a word points back ("how do I undo that?"), the question goes on where the one before
ended ("and on Windows?"), or it corrects it ("no, I meant the other one").
"""

from __future__ import annotations

import re
from enum import StrEnum

from server.indexes.scripts import UNSPACED
from server.indexes.tokens import tokens


class Leaning(StrEnum):
    """How a question needs the one before."""

    NOT = "not"
    POINTS = "points"
    GOES_ON = "goes on"
    CORRECTS = "corrects"


LONGEST = 300
"""Characters beyond which a text is taken to tell all that is needed."""
BARE = 1
"""A question of so few content words hardly says anything by itself."""
POINTING, GOING_ON, CORRECTING = 7, 8, 10
"""A longer one tells enough although it points back, goes on or corrects."""

INSIDE, INSIDE_AT_END = 2, 3
"""With more content words before it, "it" means one of those; at the end of a question, with still more."""

_POINTS = (
    # English: "that" and "this" only where no noun follows
    r"\b(its?|they|them|theirs?|he|she|him|same|instead|otherwise|the (other|former|latter|first|second|last)( one)?|ones|(this|that|the|which|another|other|new|old|right|wrong) one)\b"
    r"|(?<!is )(?<!are )(?<!was )\bthere\b(?! (is|are|was|any|an?)\b)"
    r"|\b(that|this|these|those)\b(?=\s*([?,.!]|$)|\s+(ones?|way|case|again|too|also|then|be|is|are|was|works?|means?|happens?|appl\w+"
    r"|do|does|did|for|in|on|with|to|from|by|at|without|if|when|after|before|and|or|not|can|could|will|would|should)\b)"
    r"|\b(do|undo|about|after|before|for|with|of|like) (that|this|so)\b"
    # German: "das" only where no noun phrase follows
    r"|\b(davon|damit|dazu|dafür|dagegen|darauf|darin|darüber|danach|dabei|daran|dadurch|dorthin|dort|ihn|ihm|denen|stattdessen|dasselbe"
    r"|derselbe|dieselben?|ersterer?|letzterer?)\b|\bdas\b(?=\s*([?,.!]|$))|\bdas\s+(?!\w*(e|en|es)\b)(?-i:[a-zäöü])\w+|\bdies(e[rsmn]?)?(?=\s*[?,.!])"
    r"|\b(ça|cela|ceci|celui|celle|ceux|celles|celui-ci|là-dedans|là-dessus|le même|sinon|lequel|laquelle|lesquels|eux)\b"
    r"|\b(eso|esto|ello|aquello|allí|ahí|lo mismo|el otro|la otra|ellos|ellas)\b|\b\w{2,}[aei]r(lo|la|los|las|le|les)\b"
    r"|\b(isso|isto|aquilo|disso|nisso|disto|nele|nela|deles?|delas?|eles|elas|lá|o mesmo|o outro|a outra)\b|\b\w+-(lo|la|los|las)\b"
    r"|\b(quello|questo(?=\s*[?,.])|quelli|lì|esso|essa|stesso)\b"
    r"|\b(он|она|оно|они|его|её|ее|им|их|ему|ей|ним|ней|них|это|этого|этому|этим|этом|там|туда|оттуда|то же|тот же|другой|другую|другое)\b"
    r"|它|他们|她们|[这這那](个|個|些|样|樣|里|裡|儿|兒)?(?!么|麼)|上述|前者|后者|後者|该"
    r"|それ|これ|あれ|その|あの|そこ|そちら|そっち|同じ|他の|ほかの|別の|もう一方"
    r"|(?<!\w)(그|저)(것|거|건|게|걸|곳|쪽|때)?(?=\s)|그(것|거|건|게|걸)|거기|그쪽|(다른|같은) (것|거|건|걸)"
    r"|\b(هذا|هذه|ذلك|تلك|هناك|منه|منها|فيه|فيها|به|بها|عنه|عنها|نفسه|نفسها|الآخر|الأخرى|الثاني|الأول)\b"
)
_GOES_ON = (
    r"^\W*(and|or|but|what about|how about|what if|then|also|why|how come|what else|anything else|tell me more|more|for example)\b"
    r"|\b(as well|too|then|again)\s*\?*$"
    r"|^\W*(und|oder|aber|was ist mit|wie (ist|sieht|steht) (es|das)|dann|auch|warum|wieso|welche[rs]?|noch (etwas|mehr)|zum beispiel)\b"
    r"|^\W*(et|ou|mais|qu'en est-il|alors|aussi|pourquoi\s*\?|lequel|laquelle|quoi d'autre|par exemple|dans ce cas)\b"
    r"|^\W*(y|o|pero|qué (hay|pasa)|entonces|también|cuál|cuáles|qué más|por ejemplo|en ese caso)\b"
    r"|^\W*(e|ou|mas|então|também|qual|quais|que tal|o que mais|por exemplo|nesse caso)\b|^\W*(e|o|ma|allora|anche|quale|quali)\b"
    r"|^\W*(а|и|или|но|тогда|тоже|также|почему|зачем|какой|какую|что ещё|что еще|например)\b|\b(тоже|также|тогда)\s*\?*$"
    r"|^\W*(那|还有|還有|或者|如果|要是|另外|以及|换成|換成|为什么|連|连|哪个|哪一个)|呢\s*[？?。]*$"
    r"|^\W*(じゃあ?|では|それでは|それなら|でも|また|あと|そして|ちなみに|反対に|逆に|なぜ|どうして|もし|どちら)|(は|なら|だったら|ときは|時は)\s*[？?]$"
    r"|^\W*(그럼|그러면|그리고|그런데|근데|또|그래서|왜|만약|아니면|어느)|(은|는|도)요?\s*[?？]+$"
    r"|^\W*(و(ماذا|كيف|هل|إذا|اذا|على|في|أين|متى|لماذا|ما|من)|ماذا عن|أو|لكن|ثم|إذن|لماذا)\b"
)
_CORRECTS = (
    r"^\W*(no|nope|nah|not|sorry|actually|i (mean|meant)|i was asking|that's not|that is not|wrong)\b|\b(i (mean|meant)|rather than)\b"
    r"|^\W*(nein|nee|ne|nicht|ich (meine|meinte)|sondern|eigentlich|falsch)\b|\b(ich meinte|sondern)\b"
    r"|^\W*(non|pas|je (voulais|veux) (dire|parler)|plutôt|en fait)\b|\bje (voulais|veux) (dire|parler)\b"
    r"|^\W*(no|me (refiero|refer[ií]a)|quise decir|quiero decir|en realidad|mejor dicho)\b|\b(sino|me refer[ií]a|quise decir)\b"
    r"|^\W*(não|eu quis dizer|quis dizer|quero dizer|me refiro|na verdade)\b|\b(quis dizer|e sim)\b"
    r"|^\W*(нет|не|точнее|вернее)\b|\bимел[аи]? в виду\b|\bимею в виду\b"
    r"|^\W*(不是|不对|不對|不，|不,|我是说|我是說|我的意思|我指的是|错了)|而是"
    r"|^\W*(いや|いいえ|違(う|い)|ちが(う|い)|そうじゃな)|じゃなく[てっ]|ではなく"
    r"|^\W*(아니|아뇨|제 말은|그게 아니)|말고|아니라"
    r"|^\W*(لا|أقصد|قصدت|أعني|ليس)\b|\bبل\b"
)
_PATTERNS = (
    (Leaning.CORRECTS, CORRECTING, re.compile(_CORRECTS, re.I)),
    (Leaning.GOES_ON, GOING_ON, re.compile(_GOES_ON, re.I)),
    (Leaning.POINTS, POINTING, re.compile(_POINTS, re.I)),
)
_REPLACED = (
    re.compile(r"\bnot (?:the |an? )?(?P<no>[^,.;?]+?)(?:,| but)\s+(?P<yes>.+)", re.I),
    re.compile(
        r"(?P<yes>.+?),? (?:not|instead of|rather than) (?:the |an? )?(?P<no>[^,.;?]+?)\s*[.?!]*$", re.I
    ),
    re.compile(r"\bnicht (?P<no>[^,.;?]+?),?(?: sondern|,)\s+(?P<yes>.+)", re.I),
    re.compile(r"\bpas (?P<no>[^,.;?]+?),?(?: mais|,)\s+(?P<yes>.+)", re.I),
    re.compile(r"\bno (?P<no>[^,.;?]+?),?(?: sino|,)\s+(?P<yes>.+)", re.I),
    re.compile(r"\bnão (?P<no>[^,.;?]+?),?(?: mas|(?: e)? sim|,)\s+(?P<yes>.+)", re.I),
    re.compile(r"\bне (?P<no>[^,.;?]+?),?(?: а|,)\s+(?P<yes>.+)", re.I),
    re.compile(r"不是(?P<no>[^，,。？]+)[，,]?(?:而)?是(?P<yes>.+)"),
    re.compile(r"(?P<no>[^、。，]+?)(?:じゃなくて?|ではなくて?)、?(?P<yes>.+)"),
    re.compile(r"(?P<no>\S+)(?: 말고|이 아니라|가 아니라|말고)\s*(?P<yes>.+)"),
    re.compile(r"\bليس (?P<no>[^،,.؟]+?)،? بل (?P<yes>.+)"),
)
_UNSPACED = re.compile(f"[{UNSPACED}]")
_MEANING = (
    (re.compile(r"[\u3400-\u9fff]"), 2),
    (re.compile(r"[\uac00-\ud7a3]"), 3),
    (re.compile(r"[\u30a1-\u30fa]"), 4),
)
"""Writing without spaces: how many characters make up a word, about; hiragana is mostly grammar."""
_LEAD = re.compile(r"^\W*(no|nope|nein|non|não|нет|不|いや|いいえ|아니요?|لا)(?=[\s,，、.])[\s,，、.]*", re.I)


def leaning(text: str, language: str = "") -> Leaning:
    """How `text` leans on the question before; NOT for one that can be understood alone."""
    if len(text) > LONGEST:
        return Leaning.NOT
    size = content_size(text, language)
    for kind, longest, pattern in _PATTERNS:
        found = pattern.search(text) if size <= longest else None
        if found and (kind is not Leaning.POINTS or _points_out(text, found, language)):
            return kind
    return Leaning.GOES_ON if size <= BARE else Leaning.NOT


def _points_out(text: str, found: re.Match[str], language: str) -> bool:
    """Whether a pointing word means something outside its sentence: little stands before it that it could mean."""
    before = content_size(text[: found.start()], language)
    ends = not text[found.end() :].strip(" ?!.。？！")
    return before <= (INSIDE_AT_END if ends else INSIDE)


def content_size(text: str, language: str = "") -> float:
    """About how many words carry meaning; where no spaces tell, so many as the characters may make up."""
    written = sum(len(pattern.findall(text)) / size for pattern, size in _MEANING)
    spaced = [token for token in tokens(text, language) if not _UNSPACED.match(token)]
    return len(spaced) + written


def replaced(text: str) -> tuple[str, str]:
    """(what a correction takes back, what it puts in its place); ("", text) when it takes nothing back."""
    said = _LEAD.sub("", text)
    for pattern in _REPLACED:
        found = pattern.search(said)
        if found:
            return found["no"].strip(), found["yes"].strip()
    return "", said
