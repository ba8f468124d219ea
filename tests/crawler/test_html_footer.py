"""What stands only in a footer and is asked for is read; the rest of it is not."""

import pytest

CONTENT = (
    "<main><h1>Lamps</h1><p>We repair lamps of every kind, old and new, on every working day.</p></main>"
)


@pytest.mark.parametrize(
    "line",
    [
        "Lamp Works Ltd. Company number 09404083.",
        "© 2026 Lamp Works Ltd. Company number 09404083.",
        "Call us: 01942 123456",
        "post@lamps.example",
        "Monday to Friday 9:00 to 17:30",
        "Open 10am to 4pm",
        "Mon-Fri: 9-5",
        "Montag bis Freitag 8 bis 18 Uhr",
        "Lamp Works Ltd, 12 High Street, Wigan WN1 1AA",
        "1600 Main St, Springfield, IL 62701",
        "Musterstraße 5, 10115 Berlin",
        "Mariahilfer Straße 5, 1060 Wien",
    ],
)
@pytest.mark.parametrize("footer", ["<footer><p>{}</p></footer>", "<div class='site-footer'><p>{}</p></div>"])
def test_a_fact_in_the_footer_is_read(read, line: str, footer: str) -> None:
    page = read(f"<body>{CONTENT}{footer.format(line)}</body>").page
    assert [block.text for block in page.blocks[1:]] == [line]


@pytest.mark.parametrize(
    "line",
    ["© 2019-2026 Lamp Works", "All rights reserved", "Imprint", "Version 3.11.4", "Last updated 2024-05-31", "Follow us", "© 2026 Lamp Works Ltd", "Over 5000 Happy customers"],
)  # fmt: skip
def test_what_nobody_asks_for_stays_out(read, line: str) -> None:
    assert line not in read(f"<body>{CONTENT}<footer><p>{line}</p></footer></body>").page.text


def test_a_fact_is_below_the_headings_of_the_footer(read) -> None:
    footer = "<footer><h2>Opening hours</h2><ul><li>Monday 9:00 to 17:00</li><li><a href=/about>About</a></li></ul></footer>"
    block = read(f"<body>{CONTENT}{footer}</body>").page.blocks[-1]
    assert (block.heading_path, block.text) == (("Opening hours",), "- Monday 9:00 to 17:00")


@pytest.mark.parametrize("tag", ["aside", "div role=complementary"])
def test_telephone_numbers_beside_the_content_are_read(read, tag: str) -> None:
    beside = "<h3>Call us</h3><ul><li>Hotline: 1-888-442-4551</li><li><a href=/blog>Our blog</a></li></ul><p>Buy our lamps!</p>"
    page = read(f"<body><main>{CONTENT}<{tag}>{beside}</{tag.split()[0]}></main></body>").page
    assert [(block.heading_path[-1], block.text) for block in page.blocks[1:]] == [
        ("Call us", "- Hotline: 1-888-442-4551")
    ]


def test_what_the_page_says_itself_is_not_read_again(read) -> None:
    page = read(
        "<body><main><h1>Contact</h1><p>Call 01942 123456 any day.</p></main><footer>01942 123456</footer></body>"
    ).page
    assert page.text.count("01942 123456") == 1


def test_the_end_of_an_article_is_no_footer_of_the_page(read) -> None:
    article = "<article><h1>Lamps</h1><p>We repair lamps of every kind.</p><footer>Asked 3000 times a year</footer></article>"
    assert "3000" not in read(f"<body>{article}</body>").page.text


@pytest.mark.parametrize(
    ("hours", "read_as"),
    [
        (
            "<ul><li>Mon-Fri: 9-17</li><li>Saturday: 10:00-14:00</li><li>Sunday: closed</li></ul>",
            "- Mon-Fri: 9-17\n- Saturday: 10:00-14:00\n- Sunday: closed",
        ),
        (
            "<table><tr><td>Mon</td><td>9:00–17:00</td></tr><tr><td>Tue</td><td>9:00–12:00</td></tr><tr><td>Wed</td><td>Closed</td></tr></table>",
            "Mon\t9:00–17:00\nTue\t9:00–12:00\nWed\tClosed",
        ),
    ],
)
def test_opening_hours_in_the_footer_are_whole(read, hours: str, read_as: str) -> None:
    page = read(
        f"<body>{CONTENT}<footer>{hours}<ul><li><a href=/about>About</a></li></ul></footer></body>"
    ).page
    assert [block.text for block in page.blocks[1:]] == [read_as]
