"""Function words that say nothing about what a page is about, by language.

Articles, pronouns, prepositions, conjunctions, auxiliaries and question words only. Words that
change what is asked for ("off", "without", "before") stay searchable.
"""

from __future__ import annotations

from collections.abc import Iterable

_LISTS = {
    "en": """a about am an and any are aren as at be been being but by can couldn could did didn do does
        doesn doing don for from had hadn has hasn have haven having he her hers him his how i if in into
        is isn it its itself just ll may me might mine my myself of on or our ours please re s shall she
        should shouldn so some such t than that the their theirs them themselves then there these they
        this those to too us ve very was wasn we were weren what when where whether which while who whom
        whose why will with won would wouldn you your yours yourself""",
    "de": """aber als also am an auch auf aus bei beim bin bis bist da damit dann das dass dein deine
        deinem deinen deiner dem den denn der des dessen dich die dies diese diesem diesen dieser dieses
        dir doch du durch ein eine einem einen einer eines er es etwas euch euer eure für hab habe haben
        habt hat hatte hatten hier ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede
        jedem jeden jeder jedes kann kannst können könnt konnte man mein meine meinem meinen meiner mich
        mir mit muss müssen nach noch nun nur ob oder sehr sein seine seinem seinen seiner seit sich sie
        sind so soll sollen sollte sowie über um und uns unser unsere unter vom von vor wann war waren
        warum was weil welche welchem welchen welcher welches wem wen wenn wer werde werden wie wieder
        wir wird wo worden wurde wurden zu zum zur zwischen""",
    "fr": """à ai as au aux avec avez avoir avons c ce cela ces cet cette ceux comme comment d dans de
        des dois doit donc dont du elle elles en es est et été être étaient était eu il ils j je l la le
        les leur leurs lui m ma mais me même mes moi mon n ne nos notre nous on ont où ou par pas peut
        peuvent peux plus pour pourquoi puis qu quand que quel quelle quelles quels qui s sa sans se sera
        ses si son sont sur t ta te tes toi ton tu un une vos votre vous y""",
    "es": """a al algo ante aquel aquella aquellos así aunque como cómo con cual cuál cuales cuáles
        cuando cuándo de del desde donde dónde e el él ella ellas ellos en entre era eran es esa esas ese
        eso esos esta está están estas este esto estos fue fueron ha había han hasta hay he la las le les
        lo los más me mi mis mucho muy ni nos nosotros nuestra nuestro o os otra otro para pero por porque
        puede pueden puedo que qué quien quién se sea ser si sí sido sin sobre son soy su sus también
        tan te tengo tiene tienen tu tú tus u un una unas uno unos usted ustedes y ya yo""",
    "pt": """a ao aos aquela aquele aqueles as às até com como da das de dela dele deles depois do dos e
        é ela elas ele eles em entre era eram essa essas esse esses esta está estão estas este estes eu
        foi foram há isso isto já lhe lhes mais mas me mesmo meu meus minha minhas muito na nas nem no
        nos nós nossa nosso num numa o onde os ou para pela pelas pelo pelos pode podem por porque posso
        qual quais quando que quem se sem ser será seu seus são só sua suas também te tem têm ter teu
        tinha tu tua um uma umas uns você vocês""",
    "it": """a ad agli ai al alla alle allo anche che chi ci ciò col come con cosa cui da dagli dai dal
        dalla dalle dei degli del dell della delle dello di dove due e è ed era erano essere fra gli ha
        hai hanno ho i il in io l la le lei lo loro lui ma me mi mia mie miei mio ne negli nei nel nella
        nelle noi non nostra nostro o per perché però più può possono posso quale quali quando quanto
        quel quella quelle quelli quello questa queste questi questo qui se sei si sia sono sta su sua
        sue sugli sui sul sulla sulle suo suoi ti tra tu tua tue tuo tuoi un una uno vi voi""",
    "nl": """aan al alle als bij ben bent dan dat de der deze die dit doe doen door dus een en er had
        hadden heb hebben hebt heeft hem hen het hier hij hoe hun ik in is je jij jou jouw jullie kan
        kunnen kunt maar me meer men met mij mijn moet moeten na naar niet nog nu of om omdat onder ons
        onze ook op over te tegen ten ter toch toen tot u uit uw van veel voor waar waarom wanneer want
        waren was wat we wel welke werd werden wie wij wil willen worden wordt zal ze zelf zich zij zijn
        zo zou zouden zult""",
    "ru": """а без бы был была были было быть в вам вас весь во вот все всё всех вы где да даже для до
        его ее её ей ему если есть еще ещё же за здесь и из или им их к как какая какие какой когда кто
        ко ли либо мне мы можно мои мой моя на над надо нам нас наш не него нее неё ней нет ни них но
        ну о об он она они оно от по под почему при с сам свой себе себя со так такой там те тем то
        того тоже той только том ты у уже хотя чего чей чем что чтобы эта эти это этого этой этом этот
        я""",
}

STOP_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(text.split()) for language, text in _LISTS.items()
}


def is_function_word(word: str, languages: Iterable[str]) -> bool:
    """Whether a lower-case word says nothing in English or one of these languages."""
    return any(word in STOP_WORDS.get(language, ()) for language in ("en", *languages))
