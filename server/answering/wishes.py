"""What people ask of an assistant itself: a person to talk to, or what there is to learn here.

Patterns as in `server.answering.courtesies`.
"""

from __future__ import annotations

_PEOPLE = (
    r"(human( being)?|person|people|agent|operator|representative|rep|advisor|employee|someone( real| else)?|somebody"
    r"|staff( member)?|member of staff|support agent|customer (service|support|care)( agent| representative)?|support( team)?"
    r"|your (team|manager|staff|support( team)?))"
)
_LEAVE = r"(can|could|may) (i|we|you)|(i|we) (want|need|wish)|(i|we) would (like|prefer|rather)|i'd (like|prefer|rather)|let me|please"

PERSON = {
    "en": rf"({_LEAVE})? ?(please )?(to )?(talk|speak|chat|connect( me)?|transfer me|put me (through|in touch)|get( me)?|be connected)"
    rf" (to |with |in touch with )?(a |an |the |some )?(real |live |actual |human )?{_PEOPLE}"
    rf"|(a )?(real |live |actual )(human|person|agent|operator)|human|(live )?agent|operator|live chat|customer support"
    r"|is there (a |an |any )?(real |live )?(human|person|agent|someone) (i can|to) (talk|speak|chat)( to| with)?",
    "de": r"((kann|könnte|möchte|will|darf|würde) ich )?(bitte )?(gerne? )?mit (einem|einer|dem|jemand(em)?|eurem|ihrem)"
    r"( echten| richtigen| menschlichen)? ?(menschen|person|mitarbeiter|mitarbeiterin|berater|kundendienst|kundenservice|support)?"
    r" ?(sprechen|reden|chatten|verbunden werden|verbinden)|(verbinden sie|verbinde) mich( bitte)? mit (einem|einer) "
    r"(menschen|mitarbeiter|person)|ich (möchte|will|brauche)( gerne?)? (mit )?(einen|einem)( echten)? (menschen|mitarbeiter)"
    r"( sprechen| reden)?|ein(en)? (echten?r? )?mensch(en)?|mitarbeiter",
    "fr": r"((puis[- ]je|je (voudrais|veux|souhaite|peux|préfère|souhaiterais)|est-ce que je peux|pouvez[- ]vous me) )?"
    r"(parler|discuter|échanger|être mis en (relation|contact)|mettre en (relation|contact)) (à|avec) (un |une |quelqu'un|des )"
    r"?(vrai |vraie )?(humain|être humain|personne|conseiller|conseillère|agent|opérateur|quelqu'un)?|un humain|un conseiller",
    "es": r"((puedo|quiero|quisiera|necesito|me gustar[ií]a|podr[ií]a|prefiero) )?(hablar|chatear|comunicarme|contactar) con "
    r"(un |una |alguien|alg[úu]n )?(ser )?(humano|persona|agente|operador|asesor|representante|alguien)?( real| humano)?|un humano"
    r"|una persona real|agente|p[áa]s[ae]me con (un |una )(agente|persona|humano|asesor)",
    "pt": r"((posso|quero|queria|preciso|gostaria de|poderia|prefiro) )?(falar|conversar|ser atendido) (com|por) (um |uma |algu[ée]m)?"
    r" ?(ser )?(humano|pessoa|atendente|agente|operador|algu[ée]m)?( real| de verdade| humano)?|um humano|atendente( humano)?",
    "it": r"((posso|voglio|vorrei) )?parlare con (un |una |qualcuno)?(umano|persona|operatore|qualcuno)?( reale)?|operatore",
    "ru": r"((можно|могу( ли)? я|я хочу|хочу|хотел[аи]? бы|мне (нужно|надо)|дайте|позвольте) )?(мне )?(поговорить|говорить|связаться"
    r"|пообщаться) с (живым |реальным |настоящим )?(человеком|оператором|сотрудником|менеджером|кем-нибудь|консультантом)"
    r"|(позовите|соедините( меня)? с|переключите( меня)? на|нужен|дайте)( живого| живой)? ?(человека?|оператором?|оператора?|сотрудника?)"
    r"|оператор|живой человек",
    "zh": r"(我)?(想|要|可以|能|能不能|可不可以|请|請|需要)?(帮我)?(转接?|轉接?|接|找|联系|聯繫|和|跟|与)(一个|一位|到)?(真人|人工(客服|服务|坐席)?|客服(人员)?|工作人员)"
    r"(说话|聊|聊天|谈谈|谈|通话|对话|聊聊)?(吗|嗎|吧|么)?|人工(客服|服务)?|真人(客服)?|有(没有)?(人工|真人)(客服)?(吗|嗎)?",
    "ja": r"(人間|人|本物の人|担当者|オペレーター|オペレータ|スタッフ|係の人|カスタマーサポート|有人)(の方)?(と|に)(直接)?"
    r"(話(したい|せますか|をしたい|せる|させて(ください)?)|(つない|繋い)で(ください|もらえますか)?"
    r"|代わって(ください)?|お話し?したい|チャットしたい|相談したい)(です|のですが|んですが|んだけど)?|オペレーター|有人チャット",
    "ko": r"(사람|상담원|상담사|직원|담당자|실제 사람)(이랑|랑|과|와|하고|에게|한테)?( 직접)? ?(말하고|이야기하고|얘기하고|대화하고|통화하고|연결하고|상담하고)? ?"
    r"(싶어요|싶습니다|싶은데요?|연결(해 ?주세요|해줘|해 주실래요|부탁드려요|부탁합니다)|바꿔 ?(주세요|줘)|통화할 수 있나요|이야기할 수 있나요"
    r"|대화할 수 있나요)|상담원( 연결)?|사람 불러줘",
    "ar": r"((هل يمكنني|أريد|اريد|أود|ارغب|أرغب|ممكن|أحتاج)( أن| في)? ?)?(التحدث|التكلم|أتحدث|اتحدث|أتكلم|التواصل|الحديث) (مع|إلى|الى) "
    r"(شخص|إنسان|انسان|موظف|ممثل|أحد|بشر|وكيل)( حقيقي| خدمة العملاء| الدعم)?|موظف( خدمة العملاء)?",
}
_SITE = r"(web ?)?(site|page|shop|store|company|manual|documentation|docs|place|handbook|book)"
OVERVIEW = {
    "en": rf"what('s| is| are)? (this|the|your) {_SITE} (all )?(about|for|cover|do|offer)|what is this( all)?( about)?( for)?"
    rf"|what('s| is) (on|in) (this|the|your) {_SITE}|what (is|does) (this|your) {_SITE}( do| cover| offer)?"
    r"|(what|which) (topics|subjects|things|kind of (things|questions)|questions)? ?(can|could|do) (i|you|we) (ask|answer|cover)( you)?( (about|here))?"
    r"|(what|how) can you (do|help|answer|tell me)( (me|us))?( (with|about|for me|for us|here|do))?|how (can|do) you help( me)?"
    r"|what (do|can) you (do|know|offer|cover)( about| for me| here)?|what (can|do) i (ask|find|learn|do)( you)?( about)?( here| on this site)?"
    rf"|(tell me |tell us )?(more )?about (this|the|your) {_SITE}|tell me about (yourself|this)|help( me)?|i need help|can you help( me)?"
    rf"|(give me )?(an )?overview( of (this|the|your) {_SITE})?|what topics (does|do) (this|the|you) ?({_SITE})? ?cover|what does (this|the|your) {_SITE} (cover|offer|do|contain)",
    "de": r"(worum|um was) geht('s| es)( hier| auf dieser (seite|website|webseite)| in diesem (handbuch|buch))?|was ist das hier( für eine (seite|website))?"
    r"|was (ist|bietet|macht|kann|behandelt) (diese|die|dieses|das) (seite|website|webseite|firma|handbuch|buch|dokumentation)"
    r"|(wobei|womit|bei was|wie) (kannst|können) (du|sie)( mir)? (helfen|weiterhelfen)|was (kannst|können|weißt|wissen) (du|sie)( alles)?( (beantworten|tun|für mich tun))?"
    r"|was kann ich (dich|sie|hier)?( alles)? ?(fragen|finden|erfahren|tun)|hilfe|ich brauche hilfe|(kannst|können) (du|sie) mir helfen"
    r"|(gib mir )?(einen )?überblick( über diese (seite|website))?",
    "fr": r"(de quoi (parle|traite|s'agit)|c'est quoi|qu'est-ce que c'est que|à quoi sert)[- ]?(il)? ?(ce|cette)? ?(site|page|manuel|boutique|documentation|livre)?( web)?"
    r"|qu'est-ce que c'est|que propose (ce|votre) site|que (peux[- ]tu|pouvez[- ]vous|sais[- ]tu|savez[- ]vous) faire( pour moi)?"
    r"|(en quoi|comment) (peux[- ]tu|pouvez[- ]vous) m'aider|que puis[- ]je (demander|te demander|vous demander|trouver ici)|aide|aidez[- ]moi|j'ai besoin d'aide"
    r"|(pouvez[- ]vous|peux[- ]tu) m'aider",
    "es": r"(de qu[ée] (trata|va)|qu[ée] es|para qu[ée] sirve|qu[ée] ofrece) (este|esta|esto|el|su)( sitio| p[áa]gina| web| manual| tienda| documentaci[óo]n)*"
    r"|(en|con) qu[ée] (me )?(puedes|puede)( ayudar)?(me)?|qu[ée] (puedes|puede|sabes)( hacer)?( por m[ií])?|c[óo]mo (me )?(puedes|puede) ayudar(me)?"
    r"|qu[ée] (puedo|se puede) (preguntar(te|le)?|encontrar( aqu[ií])?)|ayuda|ay[úu]dame|necesito ayuda|(me )?(puedes|puede) ayudar(me)?",
    "pt": r"(do que (se )?trata|sobre o que [ée]|o que [ée]|para que serve|o que oferece) (este|esta|esse|essa|isto|o|isso)( site| p[áa]gina| manual| loja| documenta[çc][ãa]o)*"
    r"|(em que|com o que|como) (voc[êe]|o senhor)? ?(pode|consegue) (me )?ajudar(-me)?|o que (voc[êe] )?(pode|sabe|consegue)( fazer)?( por mim)?"
    r"|o que (eu )?posso (perguntar|encontrar aqui)|ajuda|me ajude|preciso de ajuda|(voc[êe] )?pode me ajudar",
    "it": r"di cosa (parla|tratta) (questo|il) sito|cosa (puoi|sai) fare|come puoi aiutarmi|aiuto",
    "ru": r"о ч[её]м (этот|ваш|данный|это|эта) ?(сайт|ресурс|руководство|документация|книга|страница)?|что это за (сайт|страница|книга|компания|магазин)|что это( такое)?"
    r"|(чем|как) (ты|вы) (можешь|можете) (мне )?помочь|что (ты|вы) (умеешь|умеете|можешь|можете|знаешь|знаете)( делать)?|о ч[её]м (можно|я могу)( тебя| вас)? (спросить|спрашивать)"
    r"|помощь|помогите|помоги|мне нужна помощь|(можешь|можете) (мне )?помочь|что (можно|я могу) (найти|узнать)( здесь| на сайте)?",
    "zh": r"(这个?|這個?|你们的?|该|本)(网站|網站|站|页面|手册|文档|店|公司|网页|书)(是)?(干什么的|做什么的|关于什么(的)?|讲什么(的)?|有什么(内容)?|介绍什么|主要内容是什么|是干嘛的|干嘛的)"
    r"|[你您](能|可以|会)(帮我|为我|帮)?(做|干|回答|解答)?(什么|哪些问题|些什么|什么忙)(问题)?|[你您]能帮我[吗嗎]?|我(能|可以)(问|问你|问些|在这里)?(什么|哪些问题|问什么|找到什么)|帮助|帮帮我|需要帮助|这是什么(网站)?",
    "ja": r"(この|こちらの|ここの)(サイト|ウェブサイト|ページ|ホームページ|マニュアル|文書|ドキュメント|本|お店|会社)(は|って|では)?(何|なに|なん)(について|を)?(の|に関する)?"
    r"(書いて(いる|ある)|扱って(いる|いますか)|サイト|もの|ですか|のサイトですか|がわかりますか|が分かりますか|ができますか|のためのもの)?(ですか)?"
    r"|(何|なに)が(できますか|できるの?|聞けますか|わかりますか)|(何|なに)を(聞けますか|質問できますか|してくれますか|手伝ってくれますか|聞けばいいですか)"
    r"|(どんな|どのような)(こと|質問)(が|を|に)?(聞けますか|できますか|答えられますか|答えて(くれますか|もらえますか)|質問できますか)|ヘルプ|助けて(ください)?|手伝って(ください|くれますか)?",
    "ko": r"(이|여기|귀사) ?(사이트|웹사이트|홈페이지|페이지|매뉴얼|문서|책|가게|회사)?(는|은|가|에서는)? ?(뭐|무엇|무슨|어떤)(하는|에 대한|에 관한|을 하는|을 다루는|를 다루는| 내용| 하는)? ?"
    r"(곳|사이트|거|것|내용|문서|책|데)?(이에요|인가요|예요|야|입니까|이야|에 관한 것인가요|을 다루나요|를 다루나요)?|(뭐|뭘|무엇을|어떤 것을|무슨 일을) ?(할 수 있(어요?|나요|습니까|니)|도와(줄 수 있(어요?|나요)|주나요|주실 수 있나요)"
    r"|물어볼 수 있(어요?|나요))|도움말?|도와 ?(주세요|줘)|무엇을 도와줄 수 있나요",
    "ar": r"(ما|عن ماذا|عمَّ|عم|بماذا|ماذا) (هذا|يتحدث|يقدم|موضوع|هو|يتناول|يدور)( هذا| هو)? ?(الموقع|الدليل|المتجر|الكتاب|الصفحة)?|(كيف|بماذا|بم) (يمكنك|تستطيع|تقدر) (مساعدتي|أن تساعدني)"
    r"|ماذا (يمكنك|تستطيع) (أن تفعل|فعله|تقديمه)|(عن )?ماذا (يمكنني|أستطيع) (أن )?(أسأل|أسألك|السؤال)|مساعدة|ساعدني|أحتاج (إلى )?مساعدة|هل يمكنك مساعدتي",
}
