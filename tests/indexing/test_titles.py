import pytest

from server.domain.sentences import main_first, plain_title


@pytest.mark.parametrize(
    ("title", "plain"),
    [
        ("Delivery | Lantern Shop", "Delivery"),
        ("Chapter 5. Data Definition", "Data Definition"),
        ("Kapitel 14. Sicherheit", "Sicherheit"),
        ("第 6 章 メンテナンスと更新", "メンテナンスと更新"),
        ("6장. 유지 관리", "유지 관리"),
        ("Appendix K. PostgreSQL Limits", "PostgreSQL Limits"),
        ("Appendix A - Sample letter", "Sample letter"),
        ("Chapter 3 - Lamps", "Lamps"),
        ("Appendix for authors", "Appendix for authors"),
        ("10.8. DHCP", "DHCP"),
        ("F.22. lo", "lo"),
        ("3.5", "3.5"),
        ("403 Forbidden", "403 Forbidden"),
        ("A lamp for the bath", "A lamp for the bath"),
        ("Q: Is it free?", "Is it free?"),
        ("F: Ist es kostenlos?", "Ist es kostenlos?"),
        ("P.O. box: can I use one?", "P.O. box: can I use one?"),
        ("V2: what changed?", "V2: what changed?"),
        ("Q: a letter", "Q: a letter"),
    ],
)
def test_a_title_is_said_without_its_number_and_the_name_of_the_site(title, plain):
    assert plain_title(title) == plain


def test_a_newcomer_is_shown_chapters_in_their_order_then_pages_then_sections():
    pages = [
        ("https://lantern.example/lo.html", "F.22. lo"),
        ("https://lantern.example/b.html", "Chapter 10. Returns"),
        ("https://lantern.example/help.html", "Help"),
        ("https://lantern.example/z.html", "Chapter 2. Delivery"),
        ("https://lantern.example/old/a.html", "Chapter 1. Old"),
    ]
    assert [title for _, title in main_first(pages)] == [
        "Chapter 2. Delivery",
        "Chapter 10. Returns",
        "Help",
        "F.22. lo",
        "Chapter 1. Old",
    ]
