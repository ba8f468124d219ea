"""Whether a question points at the page that the visitor is on, in ten languages and one more.

"How much is this?" cannot be understood without the page. A question that stands alone must be answered the
same on every page, so what counts here is narrower than in `server.answering.reference`: an "it" that may
mean nothing ("is it possible to ...") is no pointing.
"""

from __future__ import annotations

import re
from enum import StrEnum

from server.answering.reference import content_size
from server.answering.routing import Kind, read


class Pointing(StrEnum):
    """At what a question points, outside of what was said."""

    NOT = "not"
    AT_PAGE = "page"
    """It names the page, a part of it, or what is marked there."""
    AT_THING = "thing"
    """At something at hand: what was marked, what was spoken of before, or what the page is about."""


LONGEST = 300
"""Characters beyond which a text is taken to tell all that is needed."""
WITH_NOUN, ALONE, IT = 5, 4, 2
"""Content words that a question has at most: with "this lamp", with "this", with "it"."""

_PARTS = (
    r"\b(this|the current|that) (web ?)?(page|article|post|text|document|doc|section|chapter|paragraph|passage|sentence|quote|guide|tutorial"
    r"|entry|screen|part|table|listing)\b|\b(the |my )?(selected|highlighted|marked) (text|words?|part|passage|sentences?|paragraph|lines?)\b"
    r"|\bi('ve| have)? (just )?(selected|highlighted|marked)\b|\bmy selection\b|\b(on|of) the page i am\b"
    r"|\b(dies(e[rsmn]?)?|(der|die|das|dem|den) aktuelle[nrs]?|hiesige[nrs]?) (web)?(seite|artikels?|texte?s?|dokuments?|abschnitte?s?|kapitels?|absatz(es)?|satz(es)?"
    r"|beitrags?|anleitung|stelle|tabelle|teils?)\b|\bmarkierte[nrsm]? (text|stelle|wörter|satz|absatz|teil)\w*"
    r"|\b(cette|cet|ce|la présente) (page|article|texte|document|section|chapitre|paragraphe|passage|phrase|guide|tableau|partie)\b"
    r"|\b(texte|passage|phrase|mots?) (sélectionnée?s?|surlignée?s?)"
    r"|\b(esta|este) (p[áa]gina|art[íi]culo|texto|documento|secci[óo]n|cap[íi]tulo|p[áa]rrafo|fragmento|frase|gu[íi]a|tabla|parte)\b"
    r"|\b(texto|fragmento|frase|palabras?) (seleccionad|marcad|resaltad)[oa]s?"
    r"|\b(n?d?est[ae]|n?d?ess[ae]) (p[áa]gina|artigo|texto|documento|se[cç][cç]?[ãa]o|cap[íi]tulo|par[áa]grafo|trecho|frase|guia|tabela|parte)\b"
    r"|\b(texto|trecho|frase|palavras?) (selecionad|marcad|destacad)[oa]s?"
    r"|\bquest[ao'] ?(pagina|articolo|testo|documento|sezione|capitolo|paragrafo|passaggio|frase|guida|tabella|parte)\b"
    r"|\b(эт(а|ой|у|от|ого|ом|ому|им|о)|данн(ая|ой|ую|ый|ого|ом)) (страниц|стать|текст|документ|раздел|глав|абзац|фрагмент|предложени|руководств|таблиц)\w*"
    r"|\bвыделенн\w+ (текст|фрагмент|слов|абзац|предложени)\w*"
    r"|([这這本该該此](个|個|一|篇|段|张|張|份)?|当前|當前)(页面?|頁面?|网页|網頁|文章|文字|文档|文件|章节?|章節?|段落?|句子|句话|句話|表格|部分)"
    r"|(选中|選中|选取|選取|划线|高亮)的?(文字|内容|部分|句子|词)|(这|這)一?段(话|話|文字)?"
    r"|(この|本|当|現在の)(ページ|頁|記事|文書|文章|ドキュメント|章|節|段落|文|箇所|部分|画面|表)|選択(した|中の|された)(文|部分|箇所|テキスト|言葉)"
    r"|(?<!\w)(이|현재|해당) ?(페이지|글|기사|문서|문장|단락|부분|장|절|화면|게시물|표)|선택한 ?(글|문장|부분|텍스트|단어)"
    r"|\b(هذه|هذا|بهذه|بهذا|لهذه|لهذا) (الصفحة|المقالة|المقال|النص|المستند|القسم|الفصل|الفقرة|الجملة|الجدول|الجزء)|النص المحدد|الجملة المحددة"
)
_TIMES_EN = r"year|week|weekend|month|morning|afternoon|evening|time|summer|winter|spring|autumn|site|website|shop|store|company|chat|bot|way|is|are|was|were"
_NOUN = (
    rf"\b(this|these)(?! ({_TIMES_EN})\b)(?=\s+[^\W\d_]{{3}})"
    r"|\bdies(e[rsmn]?)?(?! (jahr|woche|monat|mal|wochenende|website|webseite|shop|laden|firma|sommer|winter)\w*)(?=\s+\w{3})"
    r"|(?<![\w'’-])(ce|cet|cette|ces)(?! (que|qui|soir|mois|matin|week|semaine|site|magasin|boutique|n'|n’|sont|sera|chat|année|est)\b)(?=\s+\w{3})"
    r"|\b(este|estos|estas)(?! (año|mes|sitio|fin|verano|invierno|son|están|chat)\b)(?=\s+\w{3})"
    r"|\besta (oferta|l[áa]mpara|m[áa]quina|versi[óo]n|opci[óo]n|talla|imagen|palabra|funci[óo]n|pieza|cosa|marca|f[óo]rmula)\b"
    r"|\b[nd]?(este|esta|estes|estas|esse|essa|esses|essas)(?! (ano|m[êe]s|semana|site|loja|vez|fim|s[ãa]o|chat|empresa)\b)(?=\s+\w{3})"
    r"|\bquest[oaie](?! (anno|mese|settimana|sito|negozio|sono|è)\b)(?=\s+\w{3})"
    r"|\bэт(от|а|у|ой|и|их|ого|ому|им|ими|ом)(?! (год|недел|месяц|раз|сайт|магазин|лет|вечер)\w*)(?=\s+\w{3})"
    r"|[这這][个個款件种種台臺本些盏盞项項条條张張双雙套](?!网站|網站|商店|店|公司|月|星期|周|年|[时時]候|么|麼|[吗嗎是有要能可多]|[?？]|$)"
    r"|(この|こちらの|その)(?!サイト|お?店|会社|ウェブ|ショップ|度|頃|ごろ|ため|他|ほか|後|あと|ように|場合|前|まま)"
    r"|(?<!\w)(이|이런) (?!사이트|가게|상점|회사|달|번|주|매장)\w"
    r"|(?<!\w)ل?ب?(هذا|هذه|ذلك|تلك)(?! (الموقع|المتجر|العام|الشهر|الأسبوع|الشركة))(?= ال)"
)
_END = r"(?=\s*([?,.!;:؟。]|$)"
_ALONE = (
    rf"\b(this|these){_END}|\s+(means?|is|are|was|were|be|costs?|works?|do|does|for|in|on|with|to|at|and|or|not|can|could|will|would|should|comes?"
    r"|includes?|says?|has|have|too|also|better|worth|safe|available|ok(ay)?|good|about|right|stand|refer|fit|need)\b)"
    rf"|(^|\b(explain|is|are|does|do|about|of|for|like|what's|why|how|understand|mean|buy|order|use|get|with)\s+)(that|those){_END}|\s+(means?|cost|work)\b)"
    rf"|\b(here){_END})"
    r"|\bdas(?= (hier|da)\b)|\b(was|wie|warum|wozu|wofür|wieviel|viel|wo|wer|ist|heißt|bedeutet|kostet|funktioniert|erklär\w*|mir|kann ich|verstehe)\s+(das|dies)"
    rf"{_END}|\s+(hier|da|genau|eigentlich|denn|bedeuten|kosten)\b)|\b(davon|dafür|damit|dazu|hiermit|hierfür|hierzu|hiervon|darüber){_END})"
    rf"|\b(cela|ceci|celui-ci|celle-ci|ceux-ci|celles-ci)\b|\bça\b(?! (va|marche bien))|\bc'est (combien|quoi){_END})"
    r"|\b(esto|eso|[ée]ste|[ée]sta)(?=\s*[?,.!]|\s*$)|\b(esto|eso)\b"
    r"|\b(isto|isso|disto|disso|nisto|nisso)\b"
    rf"|\b(ciò|quest[oaie]){_END})"
    rf"|\b(это|этого|этому|этим|этом)\b|\b(здесь|тут){_END})"
    r"|[这這](?=[是个個要多有能可什怎里裡]|$|[?？。]|一?[个個]?$|意思|东西|多少|贵|便宜|包)|[这這][个個款件种種](?=$|[?？吗嗎是有要能可多])"
    r"|(これ|こちら)(?!から|まで|ら)"
    r"|(?<!\w)(이거|이것|이건|이게|이걸|요거|이것은|이것이|이것을|얘)"
    rf"|(?<!\w)ل?ب?(هذا|هذه|ذلك){_END}|\s+(؟|هو|هي|متاح|متوفر))"
)
_IT = (
    r"^\W*(so |and |but |ok,? )?(how (much|long|big|heavy|old|many|far|good|large)|what|where|when|why|which|who|does|is|are|can|could|will|do|has|have|should)\b.*\b(it|its|they|them|one)\b"
    r"|\bwie (viel|teuer|groß|schwer|lange|hoch)\b.*\b(es|er|sie)\b|\b(il|elle|ils|elles)\b.*\?|\b(lo|la) (puedo|compro|pido|venden)\b|\bele\b|\bela\b"
    r"|\b(он|она|оно|они|его|её|ее|их)\b|它|[그]거|\b(هو|هي)\b"
)
_EXPLETIVE = re.compile(
    r"\bis it (possible|allowed|okay|ok|true|necessary|legal|safe to|worth|normal|likely|better to|free to|required|a good|raining)\b"
    r"|\b(does|will|can|may|would) it (matter|make sense|rain|happen|be possible)\b|\bwhat time is it\b|\bif it\b|\b(ist|geht|gibt) es\b|\bes (gibt|geht)\b"
    r"|\b(y a-t-|est-)il\b|\bil (y a|est possible|faut)\b|\bwho (are|is) (they|it)\b",
    re.I,
)
_SHORT = re.compile(
    r"^\W*((please )?(explain|summari[sz]e|simplify|translate|tl;?dr|what is it|how much|how long|how big|price|why|how so|what for)"
    r"|(bitte )?(erklär\w*|zusammenfassen|zusammenfassung|wie viel|wieviel|was kostet|warum|wozu)|(explique[rz]?|résume[rz]?|résumé|combien|pourquoi)"
    r"|(explica(me|r)?|resume(n|lo)?|cu[áa]nto( cuesta| vale)?|por qu[ée])|(explique|explica|resuma|resumo|quanto( custa| [ée])?|por qu[êe])"
    r"|(spiega(mi)?|riassumi|quanto( costa)?|perché)|(объясни(те)?|поясни(те)?|кратко|сколько( стоит)?|почему|зачем)"
    r"|(解释|解釋|说明|總結|总结|概括|多少钱|多少錢|价格|为什么)(一下)?|(説明して|要約して|まとめて|いくら|なぜ)(ください|ですか)?|(설명|요약)(해 ?(줘|주세요))?|(얼마|왜)(예요|에요|인가요|야)?"
    r"|(اشرح|لخص|كم( السعر| سعره| الثمن)?|لماذا))[\s?？!.。؟]*$",
    re.I,
)
_AT_PAGE = re.compile(_PARTS, re.I)
_WISH = re.compile(
    r"\b((please |can you |could you )*(explain|summari[sz]e|simplify|describe|give me a summary of)( to me)?|(what does|what do|what is meant by)|means?|meaning( of)?"
    r"|says?|what is|tell me( more)?( about)?|about|summary|on|in|here|me|this|that|these|it)\b"
    r"|\b(bitte|erklär\w*|zusammenfassen|zusammenfassung|fass\w*|bedeutet|bedeuten|heißt|steht|sagt|mir|über|auf)\b"
    r"|\b(expli(que[rz]?|ca|car|came|cación)|résume[rz]?|signifient?|veut dire|dit|resume[nr]?|significan?|quiere decir|dice|sobre|resum[ae]|quer dizer|diz|sur)\b"
    r"|\b(объясни(те)?|поясни(те)?|значит|означает|сказано|говорится|кратко|про|о|об|на|в)\b"
    r"|解释一下|解释|解釋|说明|总结|概括|意思|讲了什么|说了什么|什么|说明して|説明|要約|まとめて|意味|どういう|書いてありますか|ください|何と"
    r"|설명해?|요약해?|무슨|뜻이?(에요|예요|야|인가요)?|주세요|뭐라고|써 있나요|(?<!\w)(اشرح|لخص|يعني|تعني|معنى|تقول|يقول|عن|ماذا|ما)(?!\w)",
    re.I,
)
"""What is wanted of the page's words: it stands on no page, and would count as missing there."""
_THINGS = (
    (WITH_NOUN, re.compile(_NOUN, re.I)),
    (ALONE, re.compile(_ALONE, re.I)),
    (IT, re.compile(_IT, re.I)),
)


def pointing(text: str, language: str = "") -> Pointing:
    """At what `text` points; NOT for a question that stands alone, and for no question at all."""
    if len(text) > LONGEST:
        return Pointing.NOT
    if _AT_PAGE.search(text):
        return Pointing.AT_PAGE
    message = read(text, language)
    if message.kind not in (Kind.QUESTION, Kind.OVERVIEW):
        return Pointing.NOT
    if _SHORT.match(message.text):
        return Pointing.AT_THING
    size = content_size(message.text, language)
    for longest, pattern in _THINGS:
        if size <= longest and pattern.search(message.text) and not _EXPLETIVE.search(message.text):
            return Pointing.AT_THING
    return Pointing.NOT


def without_pointing(text: str) -> str:
    """What a question asks of the page: "returns" of "what does this page say about returns?"."""
    rest = _SHORT.sub(" ", _AT_PAGE.sub(" ", text))
    left = _WISH.sub(" ", rest)
    words = re.findall(r"\w{2,}", left)
    return " ".join(left.split()) if words else ""


def is_about_all(text: str, language: str = "") -> bool:
    """Whether it may as well ask what the site is: "what is this?"."""
    return read(text, language).kind is Kind.OVERVIEW
