"""Which kind of retrieval a question calls for, told by its words.

An overview is asked of many pages at once; a question of several hops needs two or more that must be brought
together; everything else is looked up in one place.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache

from server.retrieval.parts_of_question import compares, parts_of


class QuestionKind(StrEnum):
    """Named as in reports and in traces."""

    OVERVIEW = "overview"
    SEVERAL = "several"
    LOOKUP = "lookup"


LONGEST = 400
"""A longer text tells a story; it is looked up."""
_THEMES = (
    r"\b(main|major|key|central|common|overall|most important) (themes?|topics?|ideas?|points?|subjects?|areas?|concepts?)\b",
    r"\b(overview|summary|big picture|outline) of\b|\bsummari[sz]e\b|\bin general\b.*\bcover",
    r"\bwhat (topics|subjects|areas|themes)\b",
    r"\b(überblick|übersicht|zusammenfassung) (über|von|der|des)\b|\bfass\w* .* zusammen\b|\b(haupt|wichtigste[nr]?) ?(themen|punkte)\b|\bwelche themen\b",
    r"\b(vue d'ensemble|aperçu|résumé) (de|du|des)\b|\bprincipaux (thèmes|sujets|points)\b|\bquels? (thèmes|sujets)\b",
    r"\b(resumen|panorama|visión general) (de|del)\b|\b(principales|grandes) (temas|puntos|ideas)\b|\bqué temas\b",
    r"\b(resumo|visão geral|panorama) (de|do|da|dos|das)\b|\bprincipais (temas|pontos|ideias)\b|\bquais (os )?(temas|assuntos)\b",
    r"\b(обзор|краткое содержание|сводка)\b|\b(основные|главные) (темы|идеи|разделы)\b|\bкакие темы\b",
    r"概述|总览|總覽|综述|总结|總結|主要(的)?(主题|主題|内容|內容|话题|议题)|有哪些(主题|内容)",
    r"概要|全体像|要約|まとめて|主な(テーマ|内容|話題|トピック)|どんなテーマ|どのようなテーマ",
    r"개요|요약|전반적|주요 ?(주제|내용|테마)|(어떤|무슨) 주제",
    r"نظرة عامة|ملخص|لخص|(المواضيع|الموضوعات|الأفكار) (الرئيسية|الأساسية)",
)  # fmt: skip
_KINDS = (
    r"\b(main|major|key|most important) differences\b|\bwhat kinds? of (things|topics|features)\b",
    r"\b(what|which) (are )?(all )?(the )?(different |various |available |possible )?(ways|kinds|types|options|methods|features|means)\b",
    r"\b(list|name|tell me) (all|every)\b|\bwhat are all\b",
    r"\b(haupt|wichtigste[nr]?) ?arten\b|\bwelche (arten|möglichkeiten|wege)\b",
    r"\bquels? (types|sortes|moyens)\b|\bqué (tipos|formas|maneras)\b|\bquais (os )?(tipos|modos)\b",
    r"\b(основные|главные) виды\b|\bкакие (виды|способы|типы)\b",
    r"有哪些(方面|种类|方式|类型)|哪几(种|类|方面)|(どんな|どのような)(種類|方法)|어떤 (종류|방법)|무슨 종류|ما (هي )?(أنواع|طرق)",
)  # fmt: skip
_OVERVIEW = (*_THEMES, *_KINDS)
_CHAINED = (
    r"\b(who|whom|whose|which|that|where)\b.+\b(who|whose|whom|where|of the \w+ (who|that|which)|that (was|is|were|are|has|had))\b",
    r"\b(both|same|also)\b.+\b(and|as)\b|\b(older|younger|earlier|later|larger|longer|bigger|first),? .+ or .+\?",
    r"\bof the \w+(?: \w+){0,3} (?:of|in|by|from|for|behind) the\b",
)  # fmt: skip

_SITE = (
    r"[\W_]+|\b(an?|about|all|and|are|at|by|can|cover(s|ed|ing)?|do|does|find|for|from|give|have|here|i|in|is|it|learn|list|me|of|on|"
    r"one|please|tell|that|the|there|this|to|treat(s|ed)?|us|we|what|which|with|you|your|"
    r"collection|company|content|contents|corpus|doc|docs|documents?|documentation|guide|handbook|help|knowledge base|manual|"
    r"pages?|product|project|shop|service|site|store|text|web|website|wiki|"
    r"was|welche|die|der|das|des|den|dieser|diese|dieses|über|von|im|es|auf|gib|gibt|hier|sind|ist|seite|webseite|dokumentation|handbuch|"
    r"le|la|les|du|de|un|une|ce|cette|dans|quels|quelles|sont|site|documentation|"
    r"el|los|las|del|en|este|esta|cuáles|son|sitio|documentación|o|os|as|do|da|no|na|deste|desta|quais|são|documentação|"
    r"какие|в|на|о|этого|этой|сайта|сайт|документации|документация|каковы)\b"
    r"|这|這|个|個|本|网站|網站|文档|文檔|文件|手册|手冊|的|是|有|什么|什麼|请|請|この|サイト|ドキュメント|文書|の|は|何|です|か|を|して|ください|"
    r"이|사이트|문서|설명서|의|는|은|무엇|인가요|입니까|해|주세요|줘|هذا|هذه|الموقع|الوثائق|هي|ما|في",
)  # fmt: skip


def kind_of(text: str) -> QuestionKind:
    """Of any text; the kinds are tried in their order."""
    if len(text) > LONGEST:
        return QuestionKind.LOOKUP
    if _matches(_OVERVIEW, text):
        return QuestionKind.OVERVIEW
    if compares(text) or len(parts_of(text)) > 1 or _matches(_CHAINED, text):
        return QuestionKind.SEVERAL
    return QuestionKind.LOOKUP


def asks_for_the_whole(text: str) -> bool:
    """Whether an overview is asked of the whole site: nothing is named that it should be about."""
    return kind_of(text) is QuestionKind.OVERVIEW and not _named(text, _OVERVIEW)


def asks_for_themes(text: str) -> bool:
    """Whether it is asked what the whole site is about, in words that its pages need not use."""
    return len(text) <= LONGEST and _matches(_THEMES, text) and not _named(text, _THEMES)


def _named(text: str, patterns: tuple[str, ...]) -> str:
    """What is left of a question but for its asking and words for the site itself."""
    rest = text
    for pattern in _compiled(patterns):
        rest = pattern.sub(" ", rest)
    return _compiled(_SITE)[0].sub(" ", rest).strip()


def _matches(patterns: tuple[str, ...], text: str) -> bool:
    return any(pattern.search(text) for pattern in _compiled(patterns))


@cache
def _compiled(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.I) for pattern in patterns)
