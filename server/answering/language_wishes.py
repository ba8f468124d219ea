"""What a visitor says of the language of the answer: "answer in German", "auf Deutsch bitte"."""

from __future__ import annotations

import re

LONGEST = 500
"""A longer text is not searched for a wish."""
_NAMES = {
    "en": r"english|englisch|anglais|ingl[ée]s|inglese|английск\w+|英语|英文|英語|영어|الإنجليزية|الانجليزية|إنجليزي",
    "de": r"german|deutsch|allemand|alem[áa]n|alem[ãa]o|tedesco|немецк\w+|德语|德文|ドイツ語|독일어|الألمانية|الالمانية",
    "fr": r"french|französisch|fran[çc]ais|franc[ée]s|franc[êe]s|francese|французск\w+|法语|法文|フランス語|프랑스어|불어|الفرنسية",
    "es": r"spanish|spanisch|espagnol|español|castellano|espanhol|spagnolo|испанск\w+|西班牙语|スペイン語|스페인어|الإسبانية|الاسبانية",
    "pt": r"portuguese|portugiesisch|portugais|portugu[ée]s|portugu[êe]s|portoghese|португальск\w+|葡萄牙语|ポルトガル語|포르투갈어|البرتغالية",
    "it": r"italian|italienisch|italien|italiano|итальянск\w+|意大利语|イタリア語|이탈리아어|الإيطالية",
    "ru": r"russian|russisch|russe|ruso|russo|русск\w+|俄语|俄文|ロシア語|러시아어|الروسية",
    "zh": r"chinese|mandarin|chinesisch|chinois|chino|chin[êe]s|cinese|китайск\w+|中文|汉语|漢語|普通话|中国語|중국어|الصينية",
    "ja": r"japanese|japanisch|japonais|japon[ée]s|japon[êe]s|giapponese|японск\w+|日语|日文|日本語|일본어|اليابانية",
    "ko": r"korean|koreanisch|cor[ée]en|coreano|корейск\w+|韩语|韓語|韩文|韓国語|한국어|الكورية",
    "ar": r"arabic|arabisch|arabe|[áa]rabe|arabo|арабск\w+|阿拉伯语|アラビア語|아랍어|العربية",
}
_ANY = "|".join(_NAMES.values())
_WISH = re.compile(
    rf"(?:[,;.:(–-]\s*|^|\b)(?:"
    rf"(?:please |could you |can you )?(?:answer|reply|respond|explain|write|tell me|speak|say it|give (?:me )?(?:the|your) answer)(?: to)?(?: me| this| that| it)?"
    rf"(?: please)? (?:in|using) (?P<n1>{_ANY})(?: please)?|in (?P<n2>{_ANY}),? please|(?:bitte )?(?:antworte\w*|schreib\w*|erklär\w*)?(?: mir| es)?(?: bitte)? ?auf (?P<n3>{_ANY})(?: antworten)?(?: bitte)?"
    rf"|(?:répond\w*|réponse|explique\w*)(?:[- ]moi)?(?: s'il (?:vous|te) plaît)? en (?P<n4>{_ANY})|en (?P<n5>{_ANY}),? (?:s'il (?:vous|te) plaît|svp|stp|por favor)"
    rf"|(?:responde\w*|resp[óo]nda\w*|contest\w+|resposta|responda)(?: por favor)? (?:en|em) (?P<n6>{_ANY})|em (?P<n7>{_ANY}),? por favor"
    rf"|(?:ответь\w*|отвечай\w*|напиши\w*)(?: мне)?(?: пожалуйста)? (?:на|по)[- ](?P<n8>{_ANY})(?: язык\w*)?|(?:пожалуйста )?по-(?P<n9>{_ANY})(?: пожалуйста)?"
    rf"|(?:请)?用(?P<n10>{_ANY})(?:来)?(?:回答|回复|答复|解释|说)(?:我)?|(?P<n11>{_ANY})で(?:答えて|回答して|教えて|返信して|お願い)(?:ください|します)?"
    rf"|(?P<n12>{_ANY})로 ?(?:대답|답변|답|말|설명)\w*(?: ?주세요| ?줘)?|(?:أجب|اجب|أجبني|الرد|رد)(?: من فضلك)? ب(?:اللغة )?(?P<n13>{_ANY})|بال(?P<n14>عربية|إنجليزية)"
    rf")(?:\s*[).!?。]*)",
    re.I,
)
_LANGUAGES = tuple((language, re.compile(names, re.I)) for language, names in _NAMES.items())


def wish(text: str) -> tuple[str, str]:
    """(language asked for, the text without that wish); ("", text) when none is asked for."""
    found = _WISH.search(text) if len(text) <= LONGEST else None
    if not found:
        return "", text
    named = next(group for group in found.groups() if group)
    language = next((tag for tag, names in _LANGUAGES if names.fullmatch(named)), "")
    rest = f"{text[: found.start()]} {text[found.end() :]}"
    return (language, " ".join(rest.split()).strip(" ,;:：，、–-")) if language else ("", text)
