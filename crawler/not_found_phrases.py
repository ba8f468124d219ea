"""How headlines say "page not found" in the world's major languages; lower case, without punctuation."""

from __future__ import annotations

import re

_PHRASES = """
404
404 not found
404 error
404 page not found
404 file not found
error 404
error 404 not found
error 404 page not found
http error 404
http 404
http 404 not found
http status 404 not found
fehler 404
erreur 404
errore 404
erro 404
ошибка 404
błąd 404
chyba 404
hata 404
not found
page not found
the page was not found
file not found
document not found
object not found
nothing found
nothing was found
page does not exist
page doesn t exist
the page does not exist
this page does not exist
this page doesn t exist
this page could not be found
the page could not be found
this page isn t available
page unavailable
the page you are looking for does not exist
the page you requested could not be found
the requested page could not be found
the requested url was not found on this server
we can t find that page
we couldn t find that page
we can t find the page you re looking for
oops that page can t be found
that page can t be found
page no longer exists
seite nicht gefunden
die seite wurde nicht gefunden
seite wurde nicht gefunden
diese seite existiert nicht
die seite existiert nicht
nicht gefunden
page non trouvée
page introuvable
page inexistante
cette page n existe pas
la page demandée n existe pas
la page n existe pas
página no encontrada
pagina no encontrada
no encontrado
no se encontró la página
no se ha encontrado la página
esta página no existe
la página no existe
página não encontrada
página não existe
a página não foi encontrada
não encontrado
pagina non trovata
pagina inesistente
la pagina non esiste
pagina niet gevonden
deze pagina bestaat niet
страница не найдена
такой страницы не существует
сторінку не знайдено
сторінка не знайдена
strona nie znaleziona
nie znaleziono strony
strona nie istnieje
strona nie została znaleziona
stránka nenalezena
stránka nebyla nalezena
stránka neexistuje
stránka sa nenašla
sidan hittades inte
sidan kunde inte hittas
sidan finns inte
siden blev ikke fundet
siden findes ikke
siden ble ikke funnet
siden finnes ikke
fant ikke siden
sivua ei löydy
sivua ei löytynyt
sayfa bulunamadı
az oldal nem található
pagina nu a fost găsită
pagină negăsită
stranica nije pronađena
страницата не е намерена
η σελίδα δεν βρέθηκε
halaman tidak ditemukan
không tìm thấy trang
ไม่พบหน้า
ไม่พบหน้าที่ต้องการ
पृष्ठ नहीं मिला
पेज नहीं मिला
הדף לא נמצא
העמוד לא נמצא
الصفحة غير موجودة
لم يتم العثور على الصفحة
صفحه یافت نشد
صفحه مورد نظر یافت نشد
页面不存在
页面未找到
找不到页面
页面没有找到
您访问的页面不存在
抱歉 您访问的页面不存在
找不到网页
找不到頁面
頁面不存在
找不到網頁
ページが見つかりません
ページが見つかりませんでした
お探しのページは見つかりませんでした
お探しのページが見つかりません
ページが存在しません
페이지를 찾을 수 없습니다
요청하신 페이지를 찾을 수 없습니다
존재하지 않는 페이지입니다
"""
_NO_WORD = re.compile(r"[^\w\u0e31-\u0e4e\u0900-\u0963]+")
_SEPARATOR = re.compile(r"\s+[|·•»«–—-]+\s+|[|｜:：]\s*")
_APOLOGY = re.compile(
    r"^(?:(?:sorry|oops|whoops|uh oh|we re sorry|ups|hoppla|désolé|lo sentimos|ops|抱歉|对不起) )+"
)


def _folded(text: str) -> str:
    return _NO_WORD.sub(" ", text.casefold()).strip()


_FOLDED = frozenset(map(_folded, _PHRASES.strip().splitlines()))


def says_not_found(headline: str) -> bool:
    """Whether a headline says this and no more; a site's name set off by a dash or a bar may stand by it.

    "Page not found | Acme" does, "How to mend page not found errors" does not.
    """
    parts = [headline, *_SEPARATOR.split(headline)]
    return any(_APOLOGY.sub("", _folded(part)) in _FOLDED for part in parts)
