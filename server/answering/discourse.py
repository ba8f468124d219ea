"""What the wording of a question or a sentence tells without a model, in the languages of the phrases.

Word lists are short on purpose: a word that is missing costs a little of an answer's quality, a word that
means something else in another language would cost it everywhere.
"""

from __future__ import annotations

import re

_AMOUNT = re.compile(
    r"""\bhow\ (many|much|long|large|big|often|far|old|high|deep|fast|soon)\b
      | \b(what|which)\ (is\ the\ )?(port|version|number|size|year|price|percentage|date)\b
      | \b(maximum|minimum|longest|biggest|largest|smallest|limit|price|cost|costs|deadline)\b
      | \bwie\ ?(viele?|lange|oft|gro(ß|ss)|hoch|teuer|weit)\b | \bwelche[nrs]?\ (port|version|gr(ö|oe)(ß|ss)e|zahl)\b
      | \bcu[áa]nt[oa]s?\b | \bcombien\b | \bquant[oai]s?\b | \bсколько\b | \bكم\b
      | 几|幾|多少|多大|多久|多长|多快 | いくつ|いくら|どれ(くらい|ぐらい)|どの(くらい|ぐらい)|何[^か]{0,3}(個|回|日|時間|円|人|年|台|番) | 몇|얼마
    """,
    re.I | re.X,
)
_DANGLING = re.compile(
    r"""^(however|but|and|or|so|thus|hence|therefore|otherwise|also|additionally|moreover|furthermore|instead|likewise
          |similarly|consequently|nevertheless|nonetheless|conversely|then|this|that|these|those|it|its|they|them|their
          |he|she|such|in\ (this|that|such|these)\ |in\ addition|on\ the\ other\ hand|for\ this|as\ a\ result|the\ (latter|former|same)
          |both|neither|either
      | jedoch|aber|allerdings|deshalb|daher|dennoch|außerdem|zudem|ebenso|stattdessen|diese[rsmn]?|dies|dadurch|dabei|damit|dazu|hierbei|sie|er|es
      | cependant|toutefois|mais|donc|ainsi|en\ outre|par\ contre|sinon|ceci|cela|cette|ces|il|elle|ils|elles
      | sin\ embargo|pero|además|por\ (lo\ )?tanto|así|esto|ésta?|este|esta|estos|estas|ello
      | no\ entanto|porém|mas|além\ disso|portanto|isso|isto|esse|essa|este|esta
      | однако|но|поэтому|также|кроме\ того|это|этот|эта|эти|он|она|они)\b(?!\ (is\ possible\ to|es\ posible))
      | ^(但是|但|然而|不过|因此|所以|此外|另外|而且|这|那|它|他们|其|该)
      | ^(しかし|ただし|また|さらに|そのため|したがって|それ|これ|その|この|そこで|なお|ですが|つまり)
      | ^(그러나|하지만|그런데|또한|따라서|그래서|이는|이것|그것|이러한|그러한|이를|그)(?=[\s,가-힣])
      | ^(لكن|ومع\ ذلك|لذلك|كما|وهذا|هذا|هذه|وهي|وهو)\b
    """,
    re.I | re.X,
)
_ENDS = (".", "!", "?", ":", ";", "。", "！", "？", "：", "؟", "।", "”", '"', "）", ")")
_INTRODUCES = re.compile(r"[:：]\W{0,2}$")
_LABEL_WORDS = 6


def asks_for_amount(question: str) -> bool:
    """Whether the answer is likely to hold a number."""
    return _AMOUNT.search(question) is not None


def leans_on_the_one_before(sentence: str) -> bool:
    """Whether a sentence opens with a word that points back, such as "However" or "These"."""
    return _DANGLING.match(sentence.lstrip("\"'“‘«(*_ ")) is not None


def introduces(sentence: str) -> bool:
    """Whether it announces what follows."""
    return _INTRODUCES.search(sentence) is not None


def is_label(sentence: str) -> bool:
    """Lines such as "max_connections (integer)" or "Note": they may hold the words asked for and tell nothing."""
    if re.search(r"\d{2}|@", sentence):
        return False  # an address, a number to call
    if sentence.endswith(_ENDS) and not re.fullmatch(r"[^\s()]+ \([^()]*\)", sentence):
        return False
    if sentence.isascii() or " " in sentence:
        return len(sentence.split()) < _LABEL_WORDS
    return len(sentence) < 2 * _LABEL_WORDS


def asks(sentence: str) -> bool:
    """Whether a sentence of a page is itself a question: it answers none."""
    return sentence.rstrip("\"'”’»)").endswith(("?", "？", "؟"))
