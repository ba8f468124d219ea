"""What Docent itself says to visitors, in their language."""

from __future__ import annotations

_REFUSED = {
    "en": ("I could not find an answer to that on {title}.", "The site covers, among other things:", "Nearest pages:"),
    "de": ("Dazu habe ich auf {title} keine Antwort gefunden.", "Die Website behandelt unter anderem:", "Nächstliegende Seiten:"),
    "fr": ("Je n'ai pas trouvé de réponse à cela sur {title}.", "Le site traite notamment de :", "Pages les plus proches :"),
    "es": ("No he encontrado una respuesta a eso en {title}.", "El sitio trata, entre otras cosas, de:", "Páginas más cercanas:"),
    "pt": ("Não encontrei uma resposta para isso em {title}.", "O site trata, entre outras coisas, de:", "Páginas mais próximas:"),
    "it": ("Non ho trovato una risposta su {title}.", "Il sito tratta, tra l'altro, di:", "Pagine più vicine:"),
    "ru": ("На сайте {title} ответа на это не нашлось.", "Сайт рассказывает, в частности, о следующем:", "Ближайшие страницы:"),
    "zh": ("在 {title} 上没有找到这个问题的答案。", "该网站的内容包括：", "最相近的页面："),
    "ja": ("{title} には、その質問への答えが見つかりませんでした。", "このサイトで扱っている内容：", "近い内容のページ："),
    "ko": ("{title}에서 그 질문에 대한 답을 찾지 못했습니다.", "이 사이트에서 다루는 내용:", "가장 가까운 페이지:"),
    "ar": ("لم أجد إجابة عن ذلك في {title}.", "من المواضيع التي يتناولها الموقع:", "أقرب الصفحات:"),
}  # fmt: skip

_GREETING = {
    "en": "Hello! Ask me anything about {title}. I answer from its pages and show where it says so.",
    "de": "Hallo! Fragen Sie mich zu {title}. Ich antworte aus den Seiten und zeige, wo es steht.",
    "fr": "Bonjour ! Posez-moi vos questions sur {title}. Je réponds à partir de ses pages, sources à l'appui.",
    "es": "¡Hola! Pregúnteme sobre {title}. Respondo a partir de sus páginas e indico dónde lo dicen.",
    "pt": "Olá! Pergunte-me sobre {title}. Respondo a partir das páginas e mostro onde está escrito.",
    "it": "Ciao! Chiedimi di {title}. Rispondo dalle sue pagine e mostro dove è scritto.",
    "ru": "Здравствуйте! Спрашивайте о {title}. Я отвечаю по страницам сайта и показываю, где это сказано.",
    "zh": "您好！欢迎询问有关 {title} 的问题。我会根据网站页面回答，并标明出处。",
    "ja": "こんにちは。{title} について何でもお尋ねください。ページの内容から、出典を示してお答えします。",
    "ko": "안녕하세요! {title}에 대해 물어보세요. 페이지 내용으로 답하고 출처를 보여 드립니다.",
    "ar": "مرحبًا! اسألني عن {title}. أجيب من صفحات الموقع وأبيّن مصدر كل معلومة.",
}


def refusal(language: str, title: str) -> tuple[str, str, str]:
    """(what was not found, what comes before the site's topics, what comes before nearest pages)."""
    first, covers, nearest = _REFUSED.get(language, _REFUSED["en"])
    return first.format(title=title), covers, nearest


def greeting(language: str, title: str) -> str:
    """What the widget says before the first question."""
    return _GREETING.get(language, _GREETING["en"]).format(title=title)


def languages() -> frozenset[str]:
    """Languages in which Docent itself can speak."""
    return frozenset(_REFUSED)


_QUOTED = {
    "en": "The site says:",
    "de": "Auf der Website steht:",
    "fr": "Le site indique :",
    "es": "El sitio dice:",
    "pt": "O site diz:",
    "it": "Il sito dice:",
    "ru": "На сайте сказано:",
    "zh": "网站上写道：",
    "ja": "サイトには次のように書かれています：",
    "ko": "사이트에 다음과 같이 나와 있습니다:",
    "ar": "جاء في الموقع:",
}


def quoted(language: str) -> str:
    """What stands before an answer that is made of the site's own sentences."""
    return _QUOTED.get(language, _QUOTED["en"])
