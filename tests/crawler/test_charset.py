import pytest

from crawler.extractors.text import decode

CHINESE = "您可以在一个月内退货，运费由我们承担。" * 6
KOREAN = "상품은 한 달 이내에 반품할 수 있습니다. " * 6
JAPANESE = "商品は一か月以内に返品できます。" * 6
RUSSIAN = "Вы можете вернуть товар в течение месяца, и мы оплатим обратный путь. " * 4
POLISH = "Możesz zwrócić towar w ciągu miesiąca i nie płacisz, jeśli to nie jest twoja wina. " * 3
HEBREW = "ניתן להחזיר את המוצר בתוך חודש מיום הקנייה. " * 6
CZECH = "Zboží můžete vrátit do měsíce a za cestu zpět platíme my, pokud to není vaše chyba. " * 4
TURKISH = (
    "Ürünü bir ay içinde geri verebilirsiniz ve bu sizin suçunuz değil ise kargo için para ödemezsiniz. " * 4
)
GREEK = "Μπορείτε να επιστρέψετε το προϊόν μέσα σε έναν μήνα. " * 6
ARABIC = "يمكنك إرجاع البضاعة خلال شهر واحد من تاريخ الشراء. " * 6
FRENCH = "Voilà où, l’été dernier, la table « déjà » coûtait 5 € et pas plus. " * 6


@pytest.mark.parametrize(
    ("text", "encoding", "name"),
    [
        (CHINESE, "gb18030", "GB2312"),
        ("價格與運費說明", "big5", "big5"),
        (KOREAN, "cp949", "euc-kr"),
        (JAPANESE, "cp932", "Shift_JIS"),
        (JAPANESE, "euc-jp", "EUC-JP"),
        (RUSSIAN, "cp1251", "windows-1251"),
        (RUSSIAN, "koi8-r", "KOI8-R"),
        (FRENCH, "cp1252", "ISO-8859-1"),
        ("Türkçe ğüşı", "cp1254", "iso-8859-9"),
    ],
)
def test_a_declared_charset_is_read_as_browsers_read_it(text: str, encoding: str, name: str) -> None:
    body = text.encode(encoding)
    assert decode(body, name) == text
    assert text in decode(f'<meta charset="{name}">'.encode() + body)
    assert text in decode(
        f'<meta http-equiv="Content-Type" content="text/html; charset={name}">'.encode() + body
    )


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CHINESE, "gb18030"),
        (KOREAN, "cp949"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "utf-8"),
        (JAPANESE, "utf-8"),
        (POLISH, "cp1250"),
        (FRENCH, "cp1252"),
    ],
)
def test_an_undeclared_charset_is_detected(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_wins(encoding: str) -> None:
    assert decode("Größe".encode(encoding), "iso-8859-1") == "Größe"


def test_the_header_comes_before_the_markup() -> None:
    assert decode('<meta charset="windows-1251">é'.encode(), "utf-8").endswith("é")


def test_a_wrong_declaration_does_not_spoil_the_text() -> None:
    assert decode(FRENCH.encode("cp1252"), "utf-8") == FRENCH
    assert decode(b'<meta charset="no-such-charset">plain') == '<meta charset="no-such-charset">plain'
    assert decode(b"hello", "base64") == "hello"


def test_a_few_broken_bytes_are_replaced_and_control_characters_go() -> None:
    assert decode(b"caf\xc3\xa9 " * 300 + b"\xff end", "utf-8").endswith("� end")
    assert decode(b"a\x00b\x08c\td\n") == "abc\td\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CHINESE, "gb18030"), (CHINESE, "gbk"), ("您可以在一個月內退貨，運費由我們承擔。請與客服聯絡。" * 6, "big5"), (KOREAN, "euc-kr"),
        (JAPANESE, "shift_jis"), (JAPANESE, "euc-jp"), (JAPANESE, "iso-2022-jp"), (RUSSIAN, "cp1251"), (RUSSIAN, "koi8-r"),
        (POLISH, "cp1250"), (POLISH, "iso-8859-2"), (CZECH, "cp1250"), (CZECH, "iso-8859-2"), (FRENCH, "cp1252"), (TURKISH, "cp1254"),
        (GREEK, "cp1253"), (HEBREW, "cp1255"), (ARABIC, "cp1256"), (FRENCH, "utf-16-le"), (CHINESE, "utf-16-be"), (FRENCH, "utf-8"),
    ],
)  # fmt: skip
def test_a_missing_or_wrong_header_does_not_spoil_a_page(text: str, encoding: str) -> None:
    body = f'<html><head><title>T</title></head><body><p class="x">{text}</p></body></html>'.encode(encoding)
    for header in ("", "utf-8", "iso-8859-1", "windows-1252", "us-ascii"):
        assert text in decode(body, header), header


@pytest.mark.parametrize("header", ["", "iso-8859-1"])
@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CHINESE, "gb2312"),
        (KOREAN, "euc-kr"),
        (JAPANESE, "shift_jis"),
        (RUSSIAN, "windows-1251"),
        (POLISH, "windows-1250"),
    ],
)
def test_what_the_markup_declares_counts_more_than_a_servers_default(
    text: str, encoding: str, header: str
) -> None:
    body = f'<html><head><meta charset="{encoding}"></head><body>{text[:20]}</body></html>'.encode(encoding)
    assert text[:20] in decode(body, header)


def test_latin_text_that_is_declared_so_stays_as_it_is() -> None:
    for text in ("Größe und Übergröße für Füße. " * 9, "Één café à la crème où l'été. " * 9, "ÄÖÜ äöü ß é"):
        assert decode(text.encode("cp1252"), "iso-8859-1") == text
