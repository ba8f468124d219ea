"""Pages that nearly every site has, told by their titles and addresses: about, contact, and the main ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from urllib.parse import unquote, urlsplit

from server.domain.addresses import stored
from server.domain.chunk import Chunk
from server.domain.site import Site
from server.domain.titles import main_first, plain_title
from server.storage.content.reader import ContentReader

SAMPLE = 3000
"""Pages that are looked at."""
SHORTEST = 3
"""A title of no more characters tells nothing."""
_ABOUT = (
    r"about( us)?\b|what is|what's|introduction|overview|preface|getting started|welcome|who we are|our (company|story)|foreword"
    r"|über (uns|dieses)|was ist|einführung|einleitung|überblick|vorwort|erste schritte|willkommen|wir über uns"
    r"|à propos|qui sommes|qu'est-ce|présentation|introduction|avant-propos|préface|accueil|bienvenue"
    r"|acerca de|sobre nosotros|qui[ée]nes somos|qu[ée] es|introducci[óo]n|presentaci[óo]n|prefacio|bienvenid"
    r"|sobre (n[óo]s|a empresa)|quem somos|o que [ée]|introdu[çc][ãa]o|pref[áa]cio|apresenta[çc][ãa]o|bem-vindo|chi siamo"
    r"|о (нас|компании|проекте)|что такое|введение|предисловие|обзор|добро пожаловать"
    r"|关于|關於|简介|簡介|介绍|介紹|概述|概览|什么是|前言|欢迎|序$|について|とは|概要|はじめに|序文|前書き|ようこそ|会社案内|紹介"
    r"|소개|개요|서문|머리말|이란|시작하기|환영|회사|من نحن|حول|مقدمة|نبذة|ما هو|تمهيد|مرحبا"
)
_CONTACT = (
    r"contacts?\b|contact us|get in touch|kontakt|kontaktformular|nous contacter|contactez|contact[eo]s?\b|cont[áa]ctanos"
    r"|fale conosco|entre em contato|contatti|контакт|связаться|обратная связь|联系|聯[繫絡]|お?問い?合わ?せ|連絡先|문의|연락처|고객센터"
    r"|اتصل|تواصل|الاتصال"
)
_ADDRESS = {
    "about": r"about(-?us)?|ueber-uns|uber-uns|a-propos|acerca-de|quienes-somos|sobre|quem-somos|company|intro\w*|overview|preface|getting-?started|welcome",
    "contact": r"contact(-?us)?|kontakt|contacto|contato|contatti|impressum|support-contact|get-in-touch",
}  # fmt: skip
_FOLDED_AWAY = re.compile(r"[?!.:»«\"]+")


class Landmarks:
    """The landmarks of one site; found at first use."""

    def __init__(self, site: Site, content: ContentReader, address: Callable[[str], str], base: str) -> None:
        """`address` gives the one that a visitor opens; uploaded pages are stored relative to `base`."""
        self._site = site
        self._content = content
        self._address = address
        self._start = tuple(stored(url, base) for url in site.start_urls)

    @cached_property
    def _pages(self) -> Sequence[tuple[str, str]]:
        pages = self._content.pages(limit=SAMPLE)
        own = [page for page in pages if not self._site.language or page.language == self._site.language]
        return main_first([(page.url, page.title) for page in own or pages])

    @cached_property
    def about(self) -> tuple[str, ...]:
        """Stored addresses of pages on which a site may say what it is: its start, then those named so."""
        start = tuple(url for url in self._start if self._content.page(url))
        named = self._named(_ABOUT, _ADDRESS["about"])
        return tuple(dict.fromkeys((*start, *named)))

    @cached_property
    def contact(self) -> str:
        """Stored address of the page about getting in touch; empty when there is none."""
        return next(iter(self._named(_CONTACT, _ADDRESS["contact"])), "")

    def chunks(self, url: str) -> list[Chunk]:
        """Those of a page, with the address that a visitor opens."""
        return [replace(chunk, url=self._address(chunk.url)) for chunk in self._content.page(url)]

    def main(self, limit: int) -> tuple[tuple[str, str], ...]:
        """(address, title) of the site's main pages."""
        found: dict[str, str] = {}
        for url, title in self._pages:
            if url not in self._start and len(plain_title(title)) > SHORTEST:
                found.setdefault(plain_title(title), self._address(url))
        return tuple((url, title) for title, url in found.items())[:limit]

    def _named(self, title: str, address: str) -> list[str]:
        """Those whose title begins with such words or whose address ends with them."""
        by_title, by_address = re.compile(title, re.I), re.compile(rf"(?:{address})(?:[-_.]\w+)?", re.I)
        own = {word for word in re.findall(r"\w{4,}", (self._site.title or self._site.name).lower())}
        ranked = []
        for place, (url, name) in enumerate(self._pages):
            begins = by_title.search(_FOLDED_AWAY.sub(" ", plain_title(name)).strip())
            named = by_address.fullmatch(_last_part(url))
            if named or (begins and (begins.start() == 0 or not begins.group().isascii())):
                names_site = bool(own.intersection(re.findall(r"\w+", name.lower())))
                ranked.append((not (begins and names_site), not (named and begins), place, url))
        return [url for *_, url in sorted(ranked)]


def _last_part(url: str) -> str:
    return unquote(urlsplit(url).path.rstrip("/").rsplit("/", 1)[-1])
