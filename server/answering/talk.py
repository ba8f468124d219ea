"""What Docent says of itself in a conversation, in the visitor's language. Nothing here is about the site,
beyond its title."""

from __future__ import annotations

from enum import StrEnum

from server.answering.phrases import greeting


class Said(StrEnum):
    """What there is to say."""

    EXAMPLES = "examples"
    THANKS = "thanks"
    GOODBYE = "goodbye"
    WELLBEING = "wellbeing"
    IDENTITY = "identity"
    PERSON = "person"
    LEAVE = "leave"
    CONTACT = "contact"
    NO_CONTACT = "no_contact"
    ABOUT = "about"
    WHICH = "which"


_EN = {
    "examples": "You can ask, for example, about:",
    "thanks": "You're welcome! Is there anything else you would like to know about {title}?",
    "goodbye": "Goodbye! Come back whenever you have a question about {title}.",
    "wellbeing": "All is well, thank you. What would you like to know about {title}?",
    "identity": "I am Docent, a computer program, not a person. I answer from the pages of {title} and show"
    " where it says so.",
    "person": "I am a computer program and cannot put you through to a person.",
    "leave": "You can leave a message right here; people read it, and the answer comes by e-mail.",
    "contact": "This page of {title} is about getting in touch:",
    "no_contact": "I did not find a page about getting in touch on {title}.",
    "about": "What {title} says about itself:",
    "which": "That could mean several things on {title}. Which one do you mean?",
}
_TEXTS = {
    "en": _EN,
    "de": {
        "examples": "Fragen Sie zum Beispiel nach:",
        "thanks": "Gern geschehen! Möchten Sie noch etwas über {title} wissen?",
        "goodbye": "Auf Wiedersehen! Kommen Sie gern wieder, wenn Sie Fragen zu {title} haben.",
        "wellbeing": "Alles bestens, danke. Was möchten Sie über {title} wissen?",
        "identity": "Ich bin Docent, ein Computerprogramm und kein Mensch. Ich antworte aus den Seiten von {title} und"
        " zeige, wo es steht.",
        "person": "Ich bin ein Computerprogramm und kann Sie nicht mit einem Menschen verbinden.",
        "leave": "Sie können gleich hier eine Nachricht hinterlassen; Menschen lesen sie, und die Antwort kommt per E-Mail.",
        "contact": "Auf dieser Seite von {title} geht es um den Kontakt:",
        "no_contact": "Auf {title} habe ich keine Seite zum Kontakt gefunden.",
        "about": "Was {title} über sich selbst sagt:",
        "which": "Das kann auf {title} Verschiedenes bedeuten. Was meinen Sie?",
    },
    "fr": {
        "examples": "Vous pouvez par exemple demander :",
        "thanks": "Avec plaisir ! Souhaitez-vous savoir autre chose sur {title} ?",
        "goodbye": "Au revoir ! Revenez quand vous avez une question sur {title}.",
        "wellbeing": "Tout va bien, merci. Que souhaitez-vous savoir sur {title} ?",
        "identity": "Je suis Docent, un programme informatique et non une personne. Je réponds à partir des pages de"
        " {title} et je montre où c'est écrit.",
        "person": "Je suis un programme informatique et ne peux pas vous mettre en relation avec une personne.",
        "leave": "Vous pouvez laisser un message ici même ; des personnes le liront et la réponse viendra par e-mail.",
        "contact": "Cette page de {title} concerne la prise de contact :",
        "no_contact": "Je n'ai pas trouvé de page de contact sur {title}.",
        "about": "Ce que {title} dit de lui-même :",
        "which": "Cela peut désigner plusieurs choses sur {title}. De laquelle s'agit-il ?",
    },
    "es": {
        "examples": "Puede preguntar, por ejemplo, por:",
        "thanks": "¡De nada! ¿Desea saber algo más sobre {title}?",
        "goodbye": "¡Hasta pronto! Vuelva cuando tenga una pregunta sobre {title}.",
        "wellbeing": "Todo bien, gracias. ¿Qué desea saber sobre {title}?",
        "identity": "Soy Docent, un programa informático, no una persona. Respondo a partir de las páginas de {title} e"
        " indico dónde lo dicen.",
        "person": "Soy un programa informático y no puedo ponerle en contacto con una persona.",
        "leave": "Puede dejar un mensaje aquí mismo; lo leerán personas y la respuesta llegará por correo electrónico.",
        "contact": "Esta página de {title} trata del contacto:",
        "no_contact": "No he encontrado una página de contacto en {title}.",
        "about": "Lo que {title} dice de sí mismo:",
        "which": "Eso puede significar varias cosas en {title}. ¿A cuál se refiere?",
    },
    "pt": {
        "examples": "Pode perguntar, por exemplo, sobre:",
        "thanks": "De nada! Deseja saber mais alguma coisa sobre {title}?",
        "goodbye": "Até logo! Volte quando tiver uma pergunta sobre {title}.",
        "wellbeing": "Tudo bem, obrigado. O que deseja saber sobre {title}?",
        "identity": "Sou o Docent, um programa de computador, não uma pessoa. Respondo a partir das páginas de {title} e"
        " mostro onde está escrito.",
        "person": "Sou um programa de computador e não posso passar a conversa para uma pessoa.",
        "leave": "Pode deixar uma mensagem aqui mesmo; pessoas vão lê-la e a resposta chega por e-mail.",
        "contact": "Esta página de {title} trata do contato:",
        "no_contact": "Não encontrei uma página de contato em {title}.",
        "about": "O que {title} diz sobre si:",
        "which": "Isso pode significar várias coisas em {title}. Qual delas quer saber?",
    },
    "it": {
        "examples": "Può chiedere, per esempio, di:",
        "thanks": "Prego! Vuole sapere altro su {title}?",
        "goodbye": "Arrivederci! Torni quando ha una domanda su {title}.",
        "wellbeing": "Tutto bene, grazie. Che cosa vuole sapere su {title}?",
        "identity": "Sono Docent, un programma e non una persona. Rispondo dalle pagine di {title} e mostro dove è scritto.",
        "person": "Sono un programma e non posso metterla in contatto con una persona.",
        "leave": "Può lasciare un messaggio proprio qui; lo leggeranno delle persone e la risposta arriverà per e-mail.",
        "contact": "Questa pagina di {title} riguarda i contatti:",
        "no_contact": "Non ho trovato una pagina di contatto su {title}.",
        "about": "Che cosa {title} dice di sé:",
        "which": "Su {title} può significare più cose. Quale intende?",
    },
    "ru": {
        "examples": "Можно спросить, например, о следующем:",
        "thanks": "Пожалуйста! Хотите узнать о {title} что-нибудь ещё?",
        "goodbye": "До свидания! Возвращайтесь, если появятся вопросы о {title}.",
        "wellbeing": "Всё хорошо, спасибо. Что вы хотите узнать о {title}?",
        "identity": "Я Docent, компьютерная программа, а не человек. Я отвечаю по страницам сайта {title} и показываю,"
        " где это сказано.",
        "person": "Я компьютерная программа и не могу соединить вас с человеком.",
        "leave": "Вы можете оставить сообщение прямо здесь: его прочтут люди, а ответ придёт по электронной почте.",
        "contact": "Эта страница сайта {title} о том, как связаться:",
        "no_contact": "На сайте {title} не нашлось страницы с контактами.",
        "about": "Что {title} рассказывает о себе:",
        "which": "На сайте {title} это может означать разное. Что вы имеете в виду?",
    },
    "zh": {
        "examples": "例如，您可以询问：",
        "thanks": "不客气！关于 {title}，您还想了解什么？",
        "goodbye": "再见！有关于 {title} 的问题时，欢迎随时再来。",
        "wellbeing": "一切都好，谢谢。关于 {title}，您想了解什么？",
        "identity": "我是 Docent，一个计算机程序，不是真人。我根据 {title} 的页面回答，并标明出处。",
        "person": "我是计算机程序，无法为您转接真人。",
        "leave": "您可以直接在这里留言；会有工作人员阅读，并通过电子邮件回复您。",
        "contact": "{title} 的这个页面介绍联系方式：",
        "no_contact": "在 {title} 上没有找到联系方式的页面。",
        "about": "{title} 的自我介绍：",
        "which": "在 {title} 上，这可能指几件不同的事。您指的是哪一个？",
    },
    "ja": {
        "examples": "例えば、次のことをお尋ねいただけます：",
        "thanks": "どういたしまして。{title} について、ほかに知りたいことはありますか。",
        "goodbye": "ご利用ありがとうございました。{title} について質問があれば、またお越しください。",
        "wellbeing": "おかげさまで順調です。{title} について何をお知りになりたいですか。",
        "identity": "私は Docent というコンピュータープログラムで、人間ではありません。{title} のページをもとに、出典を示してお答えします。",
        "person": "私はコンピュータープログラムのため、担当者におつなぎすることはできません。",
        "leave": "こちらでメッセージを残していただけます。担当者が読み、メールでお返事します。",
        "contact": "{title} のお問い合わせに関するページ：",
        "no_contact": "{title} には、お問い合わせのページが見つかりませんでした。",
        "about": "{title} の紹介文：",
        "which": "{title} では、いくつかの意味が考えられます。どれについてのご質問ですか。",
    },
    "ko": {
        "examples": "예를 들어 다음을 물어보실 수 있습니다:",
        "thanks": "천만에요! {title}에 대해 더 알고 싶은 것이 있으신가요?",
        "goodbye": "안녕히 가세요! {title}에 대해 궁금한 점이 있으면 언제든 다시 오세요.",
        "wellbeing": "잘 지내고 있습니다, 감사합니다. {title}에 대해 무엇을 알고 싶으신가요?",
        "identity": "저는 Docent라는 컴퓨터 프로그램이며 사람이 아닙니다. {title}의 페이지 내용으로 답하고 출처를 보여 드립니다.",
        "person": "저는 컴퓨터 프로그램이라 사람에게 연결해 드릴 수 없습니다.",
        "leave": "바로 여기에 메시지를 남기실 수 있습니다. 담당자가 읽고 이메일로 답변을 드립니다.",
        "contact": "{title}의 연락에 관한 페이지입니다:",
        "no_contact": "{title}에서 연락처 페이지를 찾지 못했습니다.",
        "about": "{title}의 소개:",
        "which": "{title}에서는 여러 가지를 뜻할 수 있습니다. 어느 것을 말씀하시나요?",
    },
    "ar": {
        "examples": "يمكنك أن تسأل مثلًا عن:",
        "thanks": "على الرحب والسعة! هل تود معرفة شيء آخر عن {title}؟",
        "goodbye": "مع السلامة! عد متى كان لديك سؤال عن {title}.",
        "wellbeing": "كل شيء على ما يرام، شكرًا. ماذا تود أن تعرف عن {title}؟",
        "identity": "أنا Docent، برنامج حاسوب ولست إنسانًا. أجيب من صفحات {title} وأبيّن مصدر كل معلومة.",
        "person": "أنا برنامج حاسوب ولا أستطيع تحويلك إلى شخص.",
        "leave": "يمكنك ترك رسالة هنا مباشرة؛ يقرؤها أشخاص، ويصلك الرد بالبريد الإلكتروني.",
        "contact": "هذه الصفحة من {title} تتعلق بالتواصل:",
        "no_contact": "لم أجد صفحة للتواصل في {title}.",
        "about": "ما يقوله {title} عن نفسه:",
        "which": "قد يعني ذلك أكثر من شيء في {title}. أيها تقصد؟",
    },
}  # fmt: skip


def say(what: Said, language: str, title: str) -> str:
    """In `language`, in English when it is not known."""
    return _TEXTS.get(language, _EN)[what].format(title=title)


def hello(language: str, title: str) -> str:
    """The answer to a greeting."""
    return greeting(language, title)


def said_which(text: str) -> bool:
    """Whether `text` begins as a question about what is meant."""
    ends = (texts["which"].rsplit("{title}", 1)[-1] for texts in _TEXTS.values())
    return any(end in text.split("\n", 1)[0] for end in ends)
