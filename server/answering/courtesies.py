"""What people say to an assistant that is no question about its site, as patterns by kind and language.

A space stands for white space and commas, `'` for any apostrophe or none. Each pattern is one whole phrase;
`server.answering.routing` finds them one after the other.
"""

from __future__ import annotations

GREETING = {
    "en": r"h+i+|hello+|hey+|hiya|heya|howdy|greetings|g'day|good (morning|afternoon|evening|day)|are you (there|here)"
    r"|(is )?(any|some)(one|body) (there|here)|nice to meet you",
    "de": r"hallo+|hi|hey|guten (tag|morgen|abend)|moin( moin)?|servus|grü(ß|ss) (gott|dich|sie)|grüezi|tach"
    r"|ist (da )?jemand da|schönen guten tag",
    "fr": r"bonjour|bonsoir|salut|coucou|bjr|slt|allô|il y a quelqu'un",
    "es": r"hola+|buen(os|as) (d[ií]as|tardes|noches)|buenas|buen d[ií]a|saludos|hay alguien( ah[ií])?",
    "pt": r"ol[áa]|oi+|bom dia|boa (tarde|noite)|e a[íi]|tem algu[ée]m a[íi]",
    "it": r"ciao|buongiorno|buonasera|salve",
    "ru": r"привет(ствую|ик)?|здравствуй(те)?|добрый (день|вечер)|доброе утро|доброго времени суток|доброго дня"
    r"|здрасьте|есть кто( тут| здесь)?",
    "zh": r"[你您]好啊?|你们好|大家好|嗨|哈[喽啰囉]|喂|早上好|早安|下午好|晚上好|在[吗嗎]|有人[吗嗎]|hello|hi",
    "ja": r"こんにち[はわ]|こんばん[はわ]|おはよう(ございます)?|はじめまして|初めまして|もしもし|やあ|ハロー",
    "ko": r"안녕(하세요|하십니까)?|반갑습니다|반가워요?|여보세요|하이|헬로",
    "ar": r"مرحبا[ًً]?|مرحبًا|[أا]هلا[ًً]?( وسهلا[ًً]?)?|أهلًا|السلام عليكم|سلام|صباح الخير|مساء الخير|هلا",
}
THANKS = {
    "en": r"(many |ok(ay)? )?(thanks?|thank you|thx)( (so|very) much| a lot| again| in advance)?|ty|cheers|ok(ay)?"
    r"|(much )?appreciate(d| it)|great|perfect|awesome|cool|nice|got it|i see|understood|makes sense|excellent"
    r"|(that|this) (really )?(helps|helped|works|worked|was (very )?helpful)( a lot)?|(very )?helpful|well done"
    r"|good (job|bot|to know)|al(l )?right|wonderful|sounds good|never ?mind",
    "de": r"(vielen |herzlichen |besten |tausend )?dank|danke?( schön| sehr| dir| ihnen| euch| im voraus)?|dankeschön"
    r"|merci|ok(ay)?|super|prima|perfekt|toll|klasse|alles klar|verstanden|das (hilft|hat geholfen)|gut gemacht",
    "fr": r"merci( beaucoup| bien| d'avance| à vous)?|mille mercis|ok|d'accord|parfait|super|génial|très bien"
    r"|compris|je vois|ça (marche|aide)|c'est noté",
    "es": r"(muchas |mil )?gracias( por (la|su|tu) ayuda)?|vale|ok|perfecto|genial|estupendo|entendido|muy bien|de acuerdo",
    "pt": r"(muito )?obrigad[oa]|valeu|ok|perfeito|ótimo|entendi|legal|beleza|agradeço|muito bem",
    "it": r"grazie( mille)?|ok|perfetto|va bene|capito|ottimo",
    "ru": r"(большое )?спасибо( большое| огромное| за помощь)?|благодарю( вас)?|спс|ок(ей)?|хорошо|понятно|ясно"
    r"|отлично|супер|здорово|понял[аи]?",
    "zh": r"(非常|多)?(感谢|感謝)[您你]?|谢谢[您你啦了]?|謝謝[您你]?|多谢|多謝|好的?|知道了|明白了?|懂了|太好了|太棒了|不错|ok",
    "ja": r"(どうも)?ありがとう(ございます|ございました)?|感謝します|助かりました|了解(です|しました)?|わかりました"
    r"|分かりました|なるほど|オーケー|どうも",
    "ko": r"(정말 |대단히 )?(감사(합니다|해요|드립니다|드려요)|고마워요?|고맙습니다)|땡큐|네|알겠(습니다|어요)|좋아요|오케이|그렇군요",
    "ar": r"شكرا[ًً]?( جزيلا[ًً]?| لك| لكم)?|شكرًا( جزيلًا| لك| لكم)?|مشكور|حسنا[ًً]?|حسنًا|تمام|ممتاز|رائع|فهمت",
}
GOODBYE = {
    "en": r"(good ?)?bye( bye)?|see (you|ya)( later| soon)?|have a (nice|good|great) (day|evening|night|weekend|one)"
    r"|good night|take care|farewell|cya|that's all|that is all|until next time",
    "de": r"tschü(ß|ss)|auf wiedersehen|bis (bald|dann|später)|ciao|gute nacht|mach's gut|schönen (tag|abend)( noch)?"
    r"|das (war|wär)'?s|das ist alles",
    "fr": r"au revoir|à (bientôt|plus( tard)?|demain)|bonne (journée|soirée|nuit)|adieu|c'est tout",
    "es": r"adi[óo]s|hasta (luego|pronto|mañana|la vista)|chao|nos vemos|que tenga (un )?buen d[ií]a|eso es todo",
    "pt": r"tchau|adeus|at[ée] (logo|mais|breve|amanhã)|tenha um bom dia|isso é tudo|é só isso",
    "it": r"arrivederci|a presto|buona (giornata|notte)|addio",
    "ru": r"пока|до свидания|до встречи|всего (доброго|хорошего)|прощайте|спокойной ночи|хорошего дня|это вс[её]",
    "zh": r"再见|再見|拜拜|回头见|晚安|下次见|88|就这些",
    "ja": r"さよ(う)?なら|じゃ(あ)?(ね|また)|またね|失礼します|失礼しました|おやすみ(なさい)?|バイバイ|以上です",
    "ko": r"안녕히 ?(계세요|가세요)|잘 ?(있어요?|가요?)|다음에 (봐요|또 봐요)|수고하세요|바이",
    "ar": r"مع السلامة|إلى اللقاء|الى اللقاء|وداعا[ًً]?|وداعًا|تصبح على خير|هذا كل شيء",
}
WELLBEING = {
    "en": r"how are (you|things|ya)( doing)?( today)?|how's it going|how is it going|how do you do|how have you been"
    r"|are you ok(ay)?|what's up|sup",
    "de": r"wie geht(s|'s| es( dir| ihnen| euch)?| es so)( heute)?|na wie geht's|alles gut( bei dir)?",
    "fr": r"(comment )?(ça|ca) va( bien)?|comment allez[- ]vous|comment vas[- ]tu|tu vas bien|vous allez bien",
    "es": r"(c[óo]mo|qu[ée]) (est[áa]s?|tal|te va|le va|va( todo)?)|todo bien",
    "pt": r"(como (vai|est[áa]|vão)( voc[êe]| as coisas)?)|tudo (bem|bom)( com voc[êe])?",
    "it": r"come (stai|sta|va)|tutto bene",
    "ru": r"как (дела|поживаешь|поживаете|жизнь|ты|вы|настроение)",
    "zh": r"[你您](今天)?(好[吗嗎]|怎么样|还好吗)|最近怎么样|吃了[吗嗎]",
    "ja": r"(お)?元気(です|でし)?(か|ですか)?|調子はどう(ですか)?",
    "ko": r"(어떻게 |잘 )?지내(세요|요|니|십니까)|기분 어때요?",
    "ar": r"كيف (حالك|حالكم|الحال|أنت)|كيفك|شلونك|هل أنت بخير",
}
IDENTITY = {
    "en": r"who are you|what are you|(what's|what is) your name|do you have a name|who (made|built|created|trained) you"
    r"|are you (a |an )?(real |actual |live )?(bot|robot|human( being)?|person|machine|ai|chat ?bot|computer|program|real"
    r"|chat ?gpt|gpt|alive)( or (a |an )?(real )?(bot|robot|human( being)?|person|machine|ai|computer|real))?"
    r"|am i (talking|speaking|chatting|writing) (to|with) (a |an )?(real )?(bot|robot|human( being)?|person|machine|ai|computer)"
    r"( or (a |an )?(real )?(bot|robot|human( being)?|person|machine|ai|computer))?"
    r"|is (this|that|it) (a |an )?(real )?(bot|robot|human|person|machine|ai|chat ?bot)|(which|what) (ai )?model are you",
    "de": r"wer (bist|sind) (du|sie)|was (bist|sind) (du|sie)|wie (heißt|heisst|heißen|heissen) (du|sie)"
    r"|(bist|sind) (du|sie) (ein |eine |ein echter |echt |künstliche )?(bot|chatbot|roboter|mensch|maschine|ki|computer|programm"
    r"|person|intelligenz|echt)( oder (ein |eine )?(bot|roboter|mensch|maschine|ki))?"
    r"|(rede|spreche|schreibe|chatte) ich mit (einem|einer) (bot|roboter|menschen|maschine|ki|computer)"
    r"( oder (einem |einer )?(bot|roboter|menschen|maschine))?",
    "fr": r"qui (es[- ]tu|êtes[- ]vous)|tu es qui|vous êtes qui|(comment|quel est ton nom|quel est votre nom)( t'appelles[- ]tu"
    r"| vous appelez[- ]vous)?|(es[- ]tu|êtes[- ]vous|tu es|vous êtes) (un |une )?(vrai |vraie )?(bot|robot|humain|personne|machine"
    r"|ia|chatbot|ordinateur)( ou (un |une )?(bot|robot|humain|personne|machine|ia))?"
    r"|(je parle|est-ce que je parle) à (un |une )?(vraie )?(bot|robot|humain|personne|machine)",
    "es": r"qui[ée]n (eres|es usted)|qu[ée] eres|c[óo]mo te llamas|c[óo]mo se llama( usted)?|cu[áa]l es tu nombre"
    r"|(eres|es usted) (un |una )?(bot|robot|humano|humana|persona( real)?|m[áa]quina|ia|chatbot|real)( o (un |una )?(bot|robot|humano"
    r"|persona|m[áa]quina))?|(hablo|estoy hablando) con (un |una )?(bot|robot|humano|persona( real)?|m[áa]quina)",
    "pt": r"quem (é|e) voc[êe]|o que (é|e) voc[êe]|qual (é|e) (o )?seu nome|como voc[êe] se chama"
    r"|voc[êe] (é|e) (um |uma )?(bot|rob[ôo]|humano|humana|pessoa( real)?|m[áa]quina|ia|chatbot|real)( ou (um |uma )?(bot|rob[ôo]|humano"
    r"|pessoa|m[áa]quina))?|(estou falando|falo) com (um |uma )?(bot|rob[ôo]|humano|pessoa( real)?|m[áa]quina)",
    "it": r"chi sei|cosa sei|come ti chiami|sei (un |una )?(bot|robot|umano|persona|macchina|ia)",
    "ru": r"(ты|вы) кто|кто (ты|вы)( так(ой|ая|ие))?|как (тебя|вас) зовут|(ты|вы) (бот|робот|человек|машина|программа|ии|живой|реальный"
    r"|настоящий)( человек)?( или (бот|робот|человек|машина))?|я (говорю|разговариваю|общаюсь) с (ботом|роботом|человеком|машиной)"
    r"( или (с )?(ботом|роботом|человеком))?|это (бот|робот|человек)",
    "zh": r"[你您]是(谁|誰|什么|什麼|哪位)|[你您]叫什[么麼](名字)?|[你您]是(真)?(人|真人|机器人|機器人|人工智能|ai|机器)(吗|嗎|还是(真)?(人|真人|机器人))?"
    r"|我是?在(跟|和)(真人|人|机器人)(说话|聊天|对话)[吗嗎]?",
    "ja": r"(あなた|君|きみ)は(誰|だれ|何者|何)(ですか|なの)?|(お)?名前は(何|なん)?(ですか)?"
    r"|(あなたは)?(人間|ロボット|ボット|ai|機械|本物の人)(です|なの?)(か)?(?:[、 ]*それとも(人間|ロボット|ボット|ai|機械)(ですか|なの)?)?",
    "ko": r"(너는?|당신은?|넌)? ?(누구(세요|야|예요|십니까|니)|이름이 뭐(예요|야|에요|니))|(너는?|당신은?|넌)? ?"
    r"(사람|로봇|봇|챗봇|기계|ai|인공지능|인간)(이에요|인가요|이야|입니까|이세요|예요|야|이니)( (아니면 )?(사람|로봇|봇|기계)(이에요|인가요|이야|입니까|이세요)?)?",
    "ar": r"من ([أا]نت|تكون)|ما اسمك|ما ([أا]نت|هو اسمك)|هل [أا]نت (إنسان|انسان|روبوت|بوت|بشر|آلة|شخص( حقيقي)?|حقيقي)( [أا]م (إنسان|روبوت|آلة|بوت))?"
    r"|هل ([أا]تحدث|[أا]تكلم) (مع|إلى) (إنسان|روبوت|بوت|شخص( حقيقي)?|آلة)",
}
FILLER = {
    "en": r"please|there|everyone|all|folks|team|guys|sir|madam|docent|bot|friend|again|oh|well|um+|uh+|so|and you|for (the|your) (help|answer|info)"
    r"|today|very much|yes|yeah|yep|no|then|now|for now|i have (a|one|another) (quick )?question|quick question",
    "de": r"bitte|zusammen|liebes team|leute|du|sie|und dir|nochmal|ja|nein|also|oh|ach|ähm|für (die|deine|ihre) hilfe|und|ich habe (eine|noch eine) (kurze )?frage",
    "fr": r"s'il (vous|te) plaît|svp|stp|à tous|tout le monde|monsieur|madame|oui|non|alors|et (toi|vous)|pour (votre|ton) aide|j'ai une question",
    "es": r"por favor|a todos|amigo|señor|señora|sí|no|entonces|y (tú|usted)|por (su|tu) ayuda|tengo una (pregunta|duda)",
    "pt": r"por favor|a todos|pessoal|amigo|sim|não|então|e (você|voce)|pela ajuda|tenho uma (pergunta|dúvida)",
    "it": r"per favore|a tutti|sì|no|ho una domanda",
    "ru": r"пожалуйста|всем|друзья|да|нет|ну|а (ты|вы)|у меня (есть )?вопрос|за ответ",
    "zh": r"请问(一下)?|請問|麻烦(您|你)?|啊|呀|哦|嗯|了|请|那个|我(有|想问)(一)?个问题|想问一下|不好意思|打扰(一下|了)",
    "ja": r"すみません(が)?|あの(ー|う)?|えっと|お願いします|お世話になって(い|お)ります|はい|いいえ|ええと|質問(です|があります(が)?)|ちょっと",
    "ko": r"저기(요)?|실례합니다|죄송(한데요|합니다만)|혹시|예|아니요|음|질문(이|이요|있어요|이 있습니다|이 있어요)?",
    "ar": r"من فضلك|لو سمحت(م|ي)?|رجاء[ًً]?|نعم|لا|يا|لدي سؤال|عندي سؤال",
}
