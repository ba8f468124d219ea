"""How commands to a model are worded, by what they want; at least in the languages of the phrases."""

from __future__ import annotations

import re

_RULES_EN = r"(instructions?|prompts?|directives?|guidelines?|guardrails?|(system|developer)\W+messages?|programming|restrictions)"
_OVERRIDE_EN = r"(ignor(e|ing)|disregard(ing)?|forget|overrid(e|ing)|bypass|discard|(do\W+not|don.?t|stop)\W+(follow(ing)?|obey(ing)?))"

OVERRIDE = rf"""
    \b{_OVERRIDE_EN}\W+(\w+\W+){{0,4}}?(previous|prior|above|earlier|preceding|former|all|any|your|these|those|original|initial|system)
        \W+(\w+\W+){{0,3}}?({_RULES_EN}|rules?)\b
  | \b{_OVERRIDE_EN}\W+(\w+\W+){{0,2}}?{_RULES_EN}\W+(above|before|so\W+far|you\W+(were|have\W+been|got))
  | \b{_OVERRIDE_EN}\W+(everything|all|anything)\W+(\w+\W+){{0,2}}?(above|before|previous|prior|said|told|written)
  | \b{_OVERRIDE_EN}\W+(the\W+)?(above|previous|preceding)(\W+(text|messages?|context))?\s*([,;]|and\b|then\b)\W*(and\W+|then\W+)?(say|tell|print|write|reply|respond|answer|output|repeat|reveal|do|act)
  | \bnew\W+(system\W+)?{_RULES_EN}\s*:
  | ignore(all|the|your|any)*(previous|prior|above)*(instructions|rules|prompts)
  | \b(ignorier\w*|vergiss|vergesst|vergessen\W+sie|missachte\w*|überge?h\w*)\W+(\w+\W+){{0,4}}?(anweisung|instruktion|regel|vorgabe|prompt|befehl)\w*
  | \b(ignore[zr]?|oublie[zr]?|néglige[zr]?|ne\W+tiens\W+pas\W+compte)\W+(\w+\W+){{0,4}}?(instructions?|règles?|consignes?|directives?|prompt)
  | \b(ignor[ae]|ignore[ns]?|olvid[ae]|descart[ae]|omite)\W+(\w+\W+){{0,4}}?(instruccion\w*|reglas?|indicacion\w*|órdenes|directrices|prompt)
  | \b(ignore|ignora|esqueça|esquece|desconsidere|descarte)\W+(\w+\W+){{0,4}}?(instruç\w*|regras?|orientaç\w*|diretrizes|prompt)
  | \b(ignora|dimentica)\W+(\w+\W+){{0,4}}?(istruzion\w*|regole|prompt)
  | \b(игнорируй\w*|проигнорируй\w*|забудь\w*|отмени\w*|не\W+обращай\w*)\W+(\w+\W+){{0,4}}?(инструкци\w*|правил\w*|указани\w*|промпт\w*)
  | (忽略|无视|無視|忘记|忘掉|忘記|不要遵守|绕过).{{0,12}}(指令|指示|规则|規則|提示|命令|说明|設定|设定)
  | (指示|命令|ルール|指令|プロンプト|制約).{{0,8}}(無視|忘れ|従わ(ず|ない)) | (無視|忘れ).{{0,6}}(指示|命令|ルール|指令)
  | (지시|명령|규칙|지침|프롬프트).{{0,10}}(무시|잊|따르지)
  | (تجاهل|انس[َى]?|تجاوز)\W+(\w+\W+){{0,3}}?(\w*تعليمات\w*|\w*قواعد\w*|\w*أوامر\w*)
"""
REVEAL = r"""
    \b(reveal|show|print|repeat|output|leak|display|disclose|expose|dump|recite|quote|paste|tell\W+me|give\W+me|send\W+me|share|translate|summari[sz]e|what('s|\W+is|\W+are|\W+were)|spell\W+out|encode)
        \W+(\w+\W+){0,4}?(system\W+prompt|(hidden|initial|secret|original|developer|internal)\W+(prompt|instructions?|message|rules?)
        |your\W+(\w+\W+){0,2}?(prompt|instructions|rules|guidelines)(?!\W+(for|on|about|to|of|regarding|in)\b)|(instructions|rules|prompt)\W+(above|you\W+(were|have|got|follow)))
  | \b(repeat|print|output|copy)\W+(\w+\W+){0,2}?(everything|all|words|text|lines?)\W+(\w+\W+){0,2}?(above|before\W+this)
  | \b(gib|zeig\w*|nenne?|verrate?)\W+(\w+\W+){0,4}?(systemprompt|system-prompt|systemanweisung\w*|(deine|ihre|geheimen|internen)\W+(\w+\W+){0,2}?(anweisungen|regeln|prompt))
  | \b(révèle\w*|montre\w*|affiche\w*|donne\w*)\W+(\w+\W+){0,4}?(prompt\W+(système|system)|(tes|vos)\W+(instructions|règles)|consignes\W+(système|secrètes|cachées))
  | \b(revela|muestra|muéstrame|imprime|repite|dime|revele|mostre|mostra|diga)\W+(\w+\W+){0,4}?(prompt\W+(del?|do)\W+sistema|(tus|suas|seu)\W+(instrucciones|instruções|prompt|reglas|regras))
  | \b(покажи|раскрой|выведи|повтори|напиши)\w*\W+(\w+\W+){0,4}?(системн\w+\W+(промпт|инструкци|подсказк)\w*|(свои|твои|ваши)\W+(инструкци|правил)\w*)
  | (显示|输出|透露|告诉我|重复|打印|泄露|說出|说出).{0,8}(系统提示|系統提示|提示词|你的(指令|规则|提示)|隐藏的(指令|提示))
  | (システムプロンプト|隠された指示|あなたの(指示|ルール)).{0,8}(表示|教え|見せ|出力|繰り返) | (시스템\ ?프롬프트|숨겨진\ ?지시|너의\ ?지시).{0,8}(보여|알려|출력|말해|공개)
  | (اعرض|اكشف|أظهر|اطبع)\W+(\w+\W+){0,3}?(\w*تعليمات\w*\W+(النظام|السرية)|تعليماتك|موجه\W+النظام)
"""
ROLE = r"""
    \byou\W+are\W+now\W+(dan|unrestricted|jailbroken|free\W+(of|from)|no\W+longer|in\W+\w+\W+mode|an?\W+(\w+\W+){0,3}?(ai|assistant|bot|chatbot|model|pirate|hacker|character|agent|persona|poet))\b
  | \b(pretend|act|behave|roleplay|respond|answer)\W+(to\W+be|as(\W+if\W+you\W+(are|were))?|like)\W+(an?\W+|the\W+)?(\w+\W+){0,2}?(unrestricted|evil|jailbroken|dan|pirate|hacker|different\W+(ai|bot|assistant)|without\W+(rules|restrictions|limits))\b
  | \bfrom\W+now\W+on\W+(you|always|only|answer|respond|reply|say|every)\b | \bdo\W+anything\W+now\b
  | \b(du\W+bist|sie\W+sind)\W+(jetzt|nun|ab\W+sofort)\W+(\w+\W+){0,2}?(ki|bot|pirat|assistent|dan)\b | \btu\W+es\W+(maintenant|désormais)\W+(un\W+)?(pirate|dan|assistant|ia)\b
  | \b(ahora\W+eres|você\W+agora\W+é|agora\W+você\W+é)\W+(un|um)?\W*(pirata|dan|asistente|assistente|ia)\b | \bты\W+теперь\W+(пират|dan|бот|ассистент)\w*
  | 你现在(是|扮演).{0,8}(海盗|助手|机器人|dan|没有限制) | (あなたは今|今から(あなたは)?).{0,8}(海賊|アシスタント|制限のない|dan) | (지금부터|이제)\ ?(너는|당신은).{0,10}(해적|비서|제한|dan)
"""
DICTATE = r"""
    \b(respond|reply|answer|output|say|print|write)\W+(only|exactly|nothing\W+but|just|always)\W+(\w+\W+){0,3}?["'“‘«]?\w+
  | \b(respond|reply|answer|output)\W+(\w+\W+){0,2}?with\W+(only\W+|exactly\W+)?(the\W+)?(word|phrase|text|sentence|string)\b
  | \b(say|print|write|output|reply)\W+["'“‘«]?(hacked|pwned|owned|i\W+have\W+been|lol)\b
  | \b(antworte|schreibe?|sage?)\W+(nur|ausschließlich|immer)\W+(\w+\W+){0,2}?(mit|dass|das\W+wort|["„]) | \bréponds?\W+(uniquement|seulement|toujours)\b
  | \b(responde|contesta|responda)\W+(solo|sólo|solamente|apenas|somente|siempre|sempre)\b | \bотвечай\w*\W+(только|всегда)\b
  | (只|仅|必须|請|请)(回答|回复|输出|說|说)[“「『"'] | (とだけ|のみ)(答え|返信|出力|返答) | (라고만|만)\ ?(대답|답변|출력|말)
"""
TELL = r"""
    \b(tell|inform|instruct|advise|convince|urge|direct|ask|warn)\W+(all\W+|every\W+|the\W+|any\W+|your\W+|each\W+)*(users?|visitors?|customers?|readers?|clients?|people)\W+(that|to|about|they)\b
  | \b(recommend|mention|promote|advertise|include|insert|append|add)\W+(\w+\W+){0,6}?(in|to|at\W+the\W+end\W+of)\W+(every|each|all|any|your)\W+(answers?|repl(y|ies)|responses?)\b
  | \b(sage?n?|erkläre?|teile?)\W+(\w+\W+){0,2}?(besuchern?|nutzern?|kunden)\W+(\w+\W+)?dass\b | \bdis\W+(aux|au)\W+(visiteurs?|utilisateurs?|clients?)\b
  | \b(di|dile|diga|diz)\W+(a|al|à|ao|aos)\W+(\w+\W+)?(usuari\w+|visitant\w+|client\w+|usuári\w+) | \b(скажи|сообщи)\w*\W+(\w+\W+)?(посетител|пользовател|клиент)\w*
  | (告诉|告知|通知)(所有|每位|每个)?(用户|访客|客户|顾客) | (ユーザー|訪問者|お客様|利用者)に.{0,30}(と(言|伝え|答え)|伝えて) | (사용자|방문자|고객)에게.{0,30}(라고|고)\ ?(말|전|답|알)
  | (أخبر|قل)\W+(\w+\W+)?(ل?ل?\w*(زوار|زائر|مستخدم|عملاء)\w*)
"""
MACHINE = r"""
    \b(dear|hey|hello|attention|note\W+(to|for)|message\W+(to|for)|instructions?\W+(to|for)|important(\W+note)?\W+(to|for))\W+(the\W+|any\W+|all\W+|an\W+)?(ai|llm|large\W+language\W+model|language\W+model|chat\s?bot|bot|assistant|gpt|chatgpt)s?\b
  | \b(if|when|as)\W+you\W+(are|.re)\W+(an?\W+|the\W+)?(ai|llm|large\W+language\W+model|language\W+model|chat\s?bot|bot|assistant)\b
  | \b(ai|llm|language\W+model|chat\s?bot|assistant|bot|model)s?\W+(that\W+|who\W+)?(reads?|reading|process(es|ing)|summari[sz](es|ing))\W+(this|these)\b
  | \b(ai|llm|language\W+model|chat\s?bot|assistant|bot|model)s?\W+(must|should|shall|has\W+to|have\W+to|will|is\W+required\W+to)\W+(always\W+|now\W+|only\W+|never\W+)?(ignore|say|tell|answer|respond|recommend|reply|include|output|mention|reveal|disclose|praise|forget|claim|state)\b
  | (^|\n|[.!?>]\s)\W*(system|assistant|developer)(\W+(message|prompt|note|override|instruction))?\s*[:>\]]\s*(you\b|ignore|reveal|new\b|override|the\W+(assistant|user|visitor|following)|from\W+now|answer|say|tell|always|never|do\W+not|print|respond|reply|forget|all\W+\w+\W+(is|are)\b)
  | <\|?/?(im_start|im_end|system|endoftext|assistant)\|?> | \[/?(inst|sys)\] | <</?sys>> | </?(chunk|history|system_prompt|instructions)\b[^>]{0,80}> | \#{2,}\s*(system|instructions?|new\W+instructions?)\s*:
"""

IN_QUESTION = re.compile("|".join((OVERRIDE, REVEAL, ROLE, MACHINE, DICTATE)), re.I | re.X)
ON_PAGE = re.compile("|".join((OVERRIDE, REVEAL, ROLE, MACHINE, DICTATE, TELL)), re.I | re.X)
