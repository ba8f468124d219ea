"""How commands to a model are worded, by language; at least in the languages of the phrases.

A pattern is only tried on a text that holds one of its beginnings: the first four letters of a word that
every match starts with, or, where words are not set apart, some of its characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_GAP = r"[^\w,;.]+"
_RULES = r"(instructions?|prompts?|guidelines?|guardrails?|(system|developer)\W+messages?|programming)"
_OVERRIDE = r"\b(ignor(e|ing)|disregard(ing)?|forget|overrid(e|ing)|bypass|discard|(do\W+not|don.?t|stop)\W+(follow(ing)?|obey(ing)?))"
_BOT = r"(ai|llm|(large\W+)?language\W+model|chat\s?bot|bot|assistant|gpt|chatgpt)"


@dataclass(frozen=True, slots=True)
class Family:
    """Commands of one kind."""

    pattern: re.Pattern[str]
    begins: frozenset[str] = frozenset()
    holds: tuple[str, ...] = ()
    page_only: bool = False
    """Said by a page of what the machine shall tell others; in a question it is nothing special."""


def _family(begins: str, pattern: str, holds: str = "", *, page_only: bool = False) -> Family:
    return Family(
        re.compile(pattern, re.I | re.X), frozenset(begins.split()), tuple(holds.split()), page_only
    )


FAMILIES = (
    _family("igno disr forg over bypa disc do don stop", rf"""
        {_OVERRIDE}{_GAP}(\w+{_GAP}){{0,4}}?(previous|prior|above|earlier|preceding|former|all|any|your|these|those|original|initial|system)
            {_GAP}(\w+{_GAP}){{0,3}}?{_RULES}\b
      | {_OVERRIDE}{_GAP}(\w+{_GAP}){{0,4}}?(previous|prior|above|earlier|preceding|your|these|those|original){_GAP}(\w+{_GAP}){{0,2}}?rules?\b
      | {_OVERRIDE}{_GAP}(\w+{_GAP}){{0,2}}?({_RULES}|rules?)\W+(above|before|so\W+far|you\W+(were|have\W+been|got))
      | {_OVERRIDE}{_GAP}(everything|all|anything|what)\W+(\w+\W+){{0,2}}?(above|before|previous|prior|said|told|written)
      | {_OVERRIDE}{_GAP}(the\W+)?(above|previous|preceding)(\W+(text|messages?|context))?\s*([,;]|and\b|then\b)\W*(and\W+|then\W+)?(say|tell|print|write|reply|respond|answer|output|repeat|reveal|do|act)\b
      | ignore(all|the|your|any)*(previous|prior|above)*(instructions|rules|prompts)"""),
    _family("new", rf"\bnew\W+(system\W+)?{_RULES}\s*:"),
    _family("reve show prin repe outp leak disp disc expo dump reci quot past tell give send shar tran summ what spel enco copy", r"""
        \b(reveal|show|print|repeat|output|leak|display|disclose|expose|dump|recite|quote|paste|tell\W+me|give\W+me|send\W+me|share|translate|summari[sz]e|what('s|\W+is|\W+are|\W+were)|spell\W+out|encode)
          \W+(\w+\W+){0,4}?(system\W+prompt|(hidden|initial|secret|original|developer|internal)\W+(prompt|instructions?|message|rules?)
          |your\W+(\w+\W+){0,2}?(prompt|instructions|rules|guidelines)(?!\W+(for|on|about|to|of|regarding|in)\b)|(instructions|rules|prompt)\W+(above|you\W+(were|have|got|follow)))
      | \b(repeat|print|output|copy)\W+(\w+\W+){0,2}?(everything|all|words|text|lines?)\W+(\w+\W+){0,2}?(above|before\W+this)"""),
    _family("you pret act beha role resp answ from do", r"""
        \byou\W+are\W+now\W+(dan|unrestricted|jailbroken|free\W+(of|from)|no\W+longer|in\W+\w+\W+mode|an?\W+(\w+\W+){0,3}?(ai|assistant|bot|chatbot|model|pirate|hacker|character|agent|persona|poet))\b
      | \b(pretend|act|behave|roleplay|respond|answer)\W+(to\W+be|as(\W+if\W+you\W+(are|were))?|like)\W+(an?\W+|the\W+)?(\w+\W+){0,2}?(unrestricted|evil|jailbroken|dan|pirate|hacker|different\W+(ai|bot|assistant)|without\W+(rules|restrictions|limits))\b
      | \bfrom\W+now\W+on\W+(you|always|only|answer|respond|reply|say|every)\b | \bdo\W+anything\W+now\b"""),
    _family("resp repl answ outp say prin writ", r"""
        \b(respond|reply|answer|output|say)\W+(only|exactly|nothing\W+but|just|always)\W+(\w+\W+){0,3}?["'“‘«]?\w+
      | \b(respond|reply|answer|output)\W+(\w+\W+){0,2}?with\W+(only\W+|exactly\W+)?(the\W+)?(word|phrase|text|sentence|string)\b
      | \b(say|print|write|output|reply)\W+["'“‘«]?(hacked|pwned|owned|i\W+have\W+been|lol)\b"""),
    _family("tell conv urge assu remi reco ment prom adve incl inse appe add", r"""
        \b(tell|convince|urge|assure|remind)\W+(all\W+|every\W+|the\W+|any\W+|your\W+|each\W+)*(users?|visitors?|customers?|people)\W+(that|to|about|they)\b
      | \b(recommend|mention|promote|advertise|include|insert|append|add)\W+(\w+\W+){0,6}?(in|to|at\W+the\W+end\W+of)\W+(every|each|all|any|your)\W+(answers?|repl(y|ies)|responses?)\b""", page_only=True),
    _family("dear hey hell atte note mess inst impo if when as", rf"""
        \b(dear|hey|hello|attention|note\W+(to|for)|message\W+(to|for)|instructions?\W+(to|for)|important(\W+note)?\W+(to|for))\W+(the\W+|any\W+|all\W+|an\W+)?{_BOT}s?\b
      | \b(if|when|as)\W+you\W+(are|.re)\W+(an?\W+|the\W+)?{_BOT}\b"""),
    _family("ai ais llm llms lang larg chat bot bots assi gpt mode", rf"""
        \b({_BOT}|model)s?\W+(that\W+|who\W+)?(reads?|reading|process(es|ing)|summari[sz](es|ing))\W+(this|these)\b
      | \b({_BOT}|model)s?\W+(must|should|shall|has\W+to|have\W+to|will|is\W+required\W+to)\W+(always\W+|now\W+|only\W+|never\W+)?(ignore|say|tell|answer|respond|recommend|reply|include|output|mention|reveal|disclose|praise|forget|claim|state)\b"""),
    _family("syst assi deve", r"""(?<![^\W_][ ,])(system|assistant|developer)(\W+(message|prompt|note|override|instruction))?\s*[:>\]]\s*
        (you\b|ignore|reveal|new\b|override|the\W+(assistant|user|visitor|following)|from\W+now|answer|say|tell|always|never|do\W+not|print|respond|reply|forget|all\W+\w+\W+(is|are)\b)"""),
    _family("", r"""<\|?/?(im_start|im_end|endoftext)\|?> | <\|(system|assistant|user)\|> | \[/?inst\] | <</?sys>>
      | </?(chunk|history|system_prompt|system)\b(\s(number|title)=[^>]{0,80})?>\s*\S | \#{2,}\s*(system|instructions?|new\W+instructions?)\s*:""", "< [ ##"),
    _family("igno verg miss über gib zeig nenn verr du sie antw schr sage sag erkl teil", r"""
        \b(ignorier\w*|vergiss|vergesst|vergessen\W+sie|missachte\w*|übergeh\w*)\W+(\w+\W+){0,4}?(anweisung|instruktion|regel|vorgabe|prompt|befehl)\w*
      | \b(gib|zeig\w*|nenne?|verrate?)\W+(\w+\W+){0,4}?(systemprompt|system-prompt|systemanweisung\w*|(deine|ihre|geheimen|internen)\W+(\w+\W+){0,2}?(anweisungen|regeln|prompt))
      | \b(du\W+bist|sie\W+sind)\W+(jetzt|nun|ab\W+sofort)\W+(\w+\W+){0,2}?(ki|bot|pirat|assistent|dan)\b | \b(antworte|schreibe?|sage?)\W+(nur|ausschließlich|immer)\W+(\w+\W+){0,2}?(mit|dass|das\W+wort|["„])
      | \b(sage?|erkläre?|teile?)\W+(\w+\W+){0,2}?(besuchern?|nutzern?|kunden)\W+(\w+\W+)?dass\b"""),
    _family("igno oubl négl ne révè mont affi donn tu répo dis", r"""
        \b(ignore[zr]?|oublie[zr]?|néglige[zr]?|ne\W+tiens\W+pas\W+compte)\W+(\w+\W+){0,4}?(instructions?|règles?|consignes?|prompt)
      | \b(révèle\w*|montre\w*|affiche\w*|donne\w*)\W+(\w+\W+){0,4}?(prompt\W+(système|system)|(tes|vos)\W+(instructions|règles)|consignes\W+(système|secrètes|cachées))
      | \btu\W+es\W+(maintenant|désormais)\W+(un\W+)?(pirate|dan|assistant|ia)\b | \bréponds?\W+(uniquement|seulement|toujours)\b | \bdis\W+(aux|au)\W+(visiteurs?|utilisateurs?|clients?)\b"""),
    _family("igno olvi desc omit esqu desc dime reve mues impr repi most diga ahor você agor resp cont di dile diga diz muéstrame mués", r"""
        \b(ignor[ae]|ignore[ns]?|olvid[ae]|descart[ae]|omite)\W+(\w+\W+){0,4}?(instruccion\w*|reglas?|indicacion\w*|órdenes|directrices|prompt)
      | \b(ignore|ignora|esqueça|esquece|desconsidere|descarte)\W+(\w+\W+){0,4}?(instruç\w*|regras?|orientaç\w*|diretrizes|prompt) | \b(ignora|dimentica)\W+(\w+\W+){0,4}?(istruzion\w*|regole|prompt)
      | \b(revela|muestra|muéstrame|imprime|repite|dime|revele|mostre|mostra|diga)\W+(\w+\W+){0,4}?(prompt\W+(del?|do)\W+sistema|(tus|suas|seu)\W+(instrucciones|instruções|prompt|reglas|regras))
      | \b(ahora\W+eres|você\W+agora\W+é|agora\W+você\W+é)\W+(un|um)?\W*(pirata|dan|asistente|assistente|ia)\b | \b(responde|contesta|responda)\W+(solo|sólo|solamente|apenas|somente|siempre|sempre)\b
      | \b(di|dile|diga|diz)\W+(a|al|à|ao|aos)\W+(\w+\W+)?(usuari\w+|visitant\w+|client\w+|usuári\w+)"""),
    _family("игно прои забу отме не пока раск выве повт напи ты отве скаж сооб", r"""
        \b(игнорируй\w*|проигнорируй\w*|забудь\w*|отмени\w*|не\W+обращай\w*)\W+(\w+\W+){0,4}?(инструкци\w*|правил\w*|указани\w*|промпт\w*)
      | \b(покажи|раскрой|выведи|повтори|напиши)\w*\W+(\w+\W+){0,4}?(системн\w+\W+(промпт|инструкци|подсказк)\w*|(свои|твои|ваши)\W+(инструкци|правил)\w*)
      | \bты\W+теперь\W+(пират|dan|бот|ассистент)\w* | \bотвечай\w*\W+(только|всегда)\b | \b(скажи|сообщи)\w*\W+(\w+\W+)?(посетител|пользовател|клиент)\w*"""),
    _family("", r"""(忽略|无视|無視|忘记|忘掉|忘記|不要遵守|绕过)[^。，,]{0,12}(指令|指示|规则|規則|提示|命令|設定|设定)
      | (指示|命令|ルール|指令|プロンプト|制約)[^。、]{0,4}(を|は)?[^。、]{0,4}(無視し|忘れ(て|ろ|なさい|、)|従わ(ず|ない)) | (無視|忘れ)[^。、]{0,6}(指示|命令|ルール|指令)
      | (지시|명령|규칙|지침|프롬프트).{0,10}(무시하|잊어|잊고|따르지\ ?마)
      | (显示|输出|透露|告诉我|重复|打印|泄露|說出|说出).{0,8}(系统提示|系統提示|提示词|你的(指令|规则|提示)|隐藏的(指令|提示))
      | (システムプロンプト|隠された指示|あなたの(指示|ルール)).{0,8}(表示|教え|見せ|出力|繰り返|書き出) | (시스템\ ?프롬프트|숨겨진\ ?지시|너의\ ?지시).{0,8}(보여|알려|출력|말해|공개)
      | 你现在(是|扮演).{0,8}(海盗|助手|机器人|dan|没有限制) | (あなたは今|今から(あなたは)?).{0,8}(海賊|アシスタント|制限のない|dan) | (지금부터|이제)\ ?(너는|당신은).{0,10}(해적|비서|제한|dan)
      | (只|仅|必须|請|请)(回答|回复|输出|說|说)[“「『"'] | (とだけ|のみ)(答え|返信|出力|返答) | (라고만)\ ?(대답|답변|출력|말)
      | (告诉|告知)(所有|每位|每个)(用户|访客|客户|顾客) | (ユーザー|訪問者|お客様|利用者)に.{0,30}(と(言っ|伝え|答え)) | (사용자|방문자|고객)에게.{0,30}라고\ ?(말|전|답|알)""",
      "指 规 規 提示 命令 设定 設定 ルール プロンプト 制約 지시 명령 규칙 지침 프롬프트 现在 今 지금 이제 回答 回复 输出 说 說 とだけ のみ 라고 告 ユーザ 訪問 お客 利用者"),
    _family("", r"""(تجاهل|انس[َى]?|تجاوز)\W+(\w+\W+){0,3}?(\w*تعليمات\w*|\w*قواعد\w*|\w*أوامر\w*)
      | (اعرض|اكشف|أظهر|اطبع)\W+(\w+\W+){0,3}?(\w*تعليمات\w*\W+(النظام|السرية)|تعليماتك|موجه\W+النظام) | (أخبر|قل)\W+(\w+\W+)?(ل?ل?\w*(زوار|زائر|مستخدم|عملاء)\w*)""",
      "تجاه انس تجاو اعرض اكشف أظهر اطبع أخبر قل"),
)  # fmt: skip

_WORD = re.compile(r"[^\W\d_]+")
_BY_BEGINNING: dict[str, list[Family]] = {}
for _one in FAMILIES:
    for _letters in _one.begins:
        _BY_BEGINNING.setdefault(_letters, []).append(_one)


def commands(text: str, *, on_page: bool) -> Iterator[re.Match[str]]:
    """Every place where `text` is worded like a command."""
    for word in _WORD.finditer(text):
        for family in _BY_BEGINNING.get(word.group()[:4].lower(), ()):
            if on_page or not family.page_only:
                found = family.pattern.match(text, word.start())
                if found:
                    yield found
    for family in FAMILIES:
        if family.holds and any(part in text for part in family.holds):
            yield from family.pattern.finditer(text)
