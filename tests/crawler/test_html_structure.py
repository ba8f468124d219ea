"""Each piece of a page is read as its reader sees it: below the heading that heads it, and nothing lost."""

from __future__ import annotations

import pytest

FILLER = "<p>" + "Some words of real content stand here. " * 4 + "</p>"

CASES = {
    "headings alone in list items are the items": (
        "<h2>Programme</h2><ul><li><h3>Opening keynote</h3></li><li><h3>Workshop for all</h3></li></ul>",
        [("Programme", "- Opening keynote"), ("Programme", "- Workshop for all")],
    ),
    "terms that are wrapped with their long definitions head them": (
        f"<h2>Terms</h2><dl><div><dt>Deposit</dt><dd><p>Paid once.</p><p>You get it back.</p></dd></div>"
        f"<div><dt>Rent</dt><dd>{FILLER}<div><dl><dt>Late</dt><dd>A fee.</dd></dl></div></dd></div></dl>",
        [
            ("Terms > Deposit", "Deposit"),
            ("Terms > Deposit", "Paid once."),
            ("Terms > Deposit", "You get it back."),
            ("Terms > Rent", "Rent"),
            ("Terms > Rent", None),
            ("Terms > Rent", "- Late\n  A fee."),
        ],
    ),
    "a heading in a cell heads the rest of its row": (
        "<table role=presentation><tr><td><h4>Ten o'clock</h4></td><td><p>Doors open.</p><p>Get a badge.</p></td></tr>"
        "<tr><td><h4>Eleven</h4></td><td><p>Talks begin.</p><p>Find a seat.</p></td></tr></table>",
        [
            ("Ten o'clock", "Doors open."),
            ("Ten o'clock", "Get a badge."),
            ("Eleven", "Talks begin."),
            ("Eleven", "Find a seat."),
        ],
    ),
    "short cells with headings are a table": (
        "<h2>Day one</h2><table><tr><td><h4>10:00</h4></td><td>Registration</td></tr>"
        "<tr><td><h4>11:00</h4></td><td>Keynote</td></tr></table>",
        [("Day one", "10:00\tRegistration\n11:00\tKeynote")],
    ),
    "a card's heading ends with the card": (
        "<h2>Prices</h2><div class=grid><div class=card><h3>Student</h3><p>Ten pounds a month.</p></div>"
        "<div class=card><h3>Adult</h3><p>Twenty pounds a month.</p></div></div><p>All prices include tax.</p>",
        [
            ("Prices > Student", "Ten pounds a month."),
            ("Prices > Adult", "Twenty pounds a month."),
            ("Prices", "All prices include tax."),
        ],
    ),
    "cards that are headings only are read": (
        "<h2>Rooms</h2><div><div class=card><h3>North hall</h3></div><div class=card><h3>South hall</h3></div></div>"
        "<p>Both have step-free access.</p>",
        [("Rooms", "North hall"), ("Rooms", "South hall"), ("Rooms", "Both have step-free access.")],
    ),
    "a summary without anything folded heads what follows": (
        "<details><summary><h2>Is it free?</h2></summary></details><p>Yes, for members.</p>"
        "<details><summary><h2>Is it open?</h2></summary></details><p>On Mondays.</p>",
        [("Is it free?", "Yes, for members."), ("Is it open?", "On Mondays.")],
    ),
    "a section without text keeps its name": (
        "<h2>Floors</h2><h3>First floor: workshops</h3><h3>Second floor: quiet room</h3><p>Ask at the desk.</p>",
        [("Floors", "First floor: workshops"), ("Floors > Second floor: quiet room", "Ask at the desk.")],
    ),
    "the heading of a menu goes with the menu": (
        f"{FILLER}<h2>Related articles</h2><ul class=related><li><a href=/a>One</a></li><li><a href=/b>Two</a></li>"
        f"<li><a href=/c>Three</a></li></ul><h2>Fees</h2><p>None at all.</p>",
        [("", None), ("Fees", "None at all.")],
    ),
    "a heading at the end of the page is text if it is a sentence": (
        "<h2>Lab</h2><p>It is in the basement.</p><h2>We meet every Wednesday in the lab.</h2><h3>See you there!</h3>",
        [("Lab", "It is in the basement."), ("We meet every Wednesday in the lab.", "See you there!")],
    ),
    "a heading at the end of the page is that of a menu if it is no sentence": (
        "<h2>Lab</h2><p>It is in the basement.</p><h2>Was this page helpful?</h2>",
        [("Lab", "It is in the basement.")],
    ),
    "a heading at the end of the page is text if it says something of what it names": (
        "<h2>Party</h2><p>Bring a lamp.</p><h6>Place: <b>The roof</b></h6><h6>Date:<b> 7 June</b></h6><h2>Share this:</h2>",
        [("Party", "Bring a lamp."), ("Party", "Place: The roof"), ("Party", "Date: 7 June")],
    ),
    "the end of any heading ends the one that is open": (
        "<h2>Boat</h2><h3>Time: <b>7:30</b></h2><small>Be there at 7.</small><h3>Food</h3><p>Soup.</p>",
        [("Boat > Time: 7:30", "Be there at 7."), ("Boat > Food", "Soup.")],
    ),
    "the heading of a table of contents heads nothing else": (
        "<h2>Lamps</h2><h3>Contents</h3><nav><a href=#oil>Oil</a></nav><section><p>They give light.</p></section>",
        [("Lamps", "They give light.")],
    ),
    "the bold first lines of questions head their answers": (
        "<h2>Questions</h2><p><strong>Is it free?</strong><br>Yes, <a href=/f>all of it</a>.<br>Even tea.</p>"
        "<p><b>Will there be lunch</b><br>Yes.</p><p><b>Is it filmed? </b><br>No.</p><p><b>Can I sing?</b></p>",
        [
            ("Questions > Is it free?", "Yes, all of it. Even tea."),
            ("Questions > Will there be lunch", "Yes."),
            ("Questions > Is it filmed?", "No."),
            ("Questions", "Can I sing?"),
        ],
    ),
    "a quotation keeps the name of its speaker": (
        "<blockquote><p>I love my work.</p><footer>Jodie, teacher</footer></blockquote><footer>A menu</footer>",
        [("", "I love my work."), ("", "Jodie, teacher")],
    ),
    "an empty line ends a paragraph": (
        "<p>We open at nine.<br> <br>Adults pay ten pounds.<br>Children pay six.</p>",
        [("", "We open at nine."), ("", "Adults pay ten pounds. Children pay six.")],
    ),
    "a title on a line of its own is not part of the text below": (
        "<p><strong>By fax</strong><br>Fax your completed form to the office in Leeds.<br><br>"
        "<b>By post</b><br>Post your completed form to the office in Leeds.</p>"
        "<p><b>Adults</b><br>ten pounds</p><address><b>Office</b><br>The Old Mill by the river in the town of Leigh</address>",
        [
            ("", "By fax"),
            ("", "Fax your completed form to the office in Leeds."),
            ("", "By post"),
            ("", "Post your completed form to the office in Leeds."),
            ("", "Adults ten pounds"),
            ("", "Office The Old Mill by the river in the town of Leigh"),
        ],
    ),
    "a title in an item of a list has a line of its own": (
        "<ul><li><a href=/care>Health care</a><br>Learn how to apply and what you pay.</li>"
        "<li>Take short showers<br><span>A shower of five minutes saves much water.</span></li>"
        "<li>The exam is not open to<br>Students who have failed the course two times.</li><li>Unit 3<br><b>High Street</b></li>"
        "<li>First line.<br><br>Last line.</li></ul>",
        [
            (
                "",
                "- Health care\n  Learn how to apply and what you pay.\n"
                "- Take short showers\n  A shower of five minutes saves much water.\n"
                "- The exam is not open to Students who have failed the course two times.\n- Unit 3 High Street\n"
                "- First line.\n  Last line.",
            )
        ],
    ),
    "bold paragraphs head what is below them": (
        "<h2>Tour</h2><div><p><strong>Is there a cost?</strong></p><p>No.</p><p><b>How long is it?</b></p><ul><li>Ten hours</li></ul>"
        "<p><strong>Parking</strong><br>free</p></div><p>Book a week before.</p><h3>Food</h3><p>Bring your own.</p>",
        [
            ("Tour > Is there a cost?", "No."),
            ("Tour > How long is it?", "- Ten hours"),
            ("Tour", "Parking free"),
            ("Tour", "Book a week before."),
            ("Tour > Food", "Bring your own."),
        ],
    ),
    "bold paragraphs in a folded section are below its summary": (
        "<details><summary>Visits</summary><p><b>By bus</b></p><p>Line 4.</p><p><b>By car</b></p><p>Exit 7.</p></details>",
        [("Visits > By bus", "Line 4."), ("Visits > By car", "Exit 7.")],
    ),
    "a bold paragraph alone is no heading": (
        "<p><strong>Our motto</strong></p><p>Repair first.</p>",
        [("", "Our motto"), ("", "Repair first.")],
    ),
    "bold sentences, labels, file names and links are no headings": (
        "<p><b>We are closed.</b></p><p>One.</p><p><b>Note</b></p><p>Two.</p><p><b>/etc/lamp.conf</b></p><p>Three.</p>"
        "<p><b><a href=/a>The form</a></b></p><p>Four.</p><p><b>Left bold</b></p><p><b>Right bold</b></p>",
        [
            ("", "We are closed."),
            ("", "One."),
            ("", "Note"),
            ("", "Two."),
            ("", "/etc/lamp.conf"),
            ("", "Three."),
            ("", "The form"),
            ("", "Four."),
            ("", "Left bold"),
            ("", "Right bold"),
        ],
    ),
    "text of a list outside its items is read": (
        "<ul>The board decides by <b>vote</b> of all.</ul><ol>Bring:<li>a lamp</li>and if you can<div><li>a bulb</li></div></ol>",
        [("", "The board decides by vote of all."), ("", "Bring:\n1. a lamp\nand if you can\n2. a bulb")],
    ),
    "what stands between the items of a list with code is read": (
        "<ol>First:<div><li><p>Run it.</p><pre>make</pre></li></div><p>It takes a minute.</p><ul><li>or two</li></ul>"
        "<li>Done.</li></ol>",
        [
            ("", "First:"),
            ("", "1. Run it."),
            ("", "make"),
            ("", "It takes a minute."),
            ("", "- or two"),
            ("", "2. Done."),
        ],
    ),
    "the label of a note is no text": (
        "<h2>Zoom</h2><div class=notice><p><strong>Info</strong></p><p>It holds a hundred people.</p></div>",
        [("Zoom", "It holds a hundred people.")],
    ),
    "the title and the lead of a table of contents go with it": (
        "<h2>Care</h2><p>Jump to a section:</p><ul><li><a href=#a>Cost</a></li><li><a href=#b>Time</a></li>"
        "<li><a href=#c>Place</a></li></ul><h3 id=a>Cost</h3><p>None.</p>"
        "<h2>On this page</h2><ul><li><a href=#d>Bus</a></li><li><a href=#e>Car</a></li><li><a href=#f>Bike</a></li></ul>"
        "<h3 id=d>Bus</h3><p>Line 4.</p>",
        [("Care > Cost", "None."), ("Bus", "Line 4.")],
    ),
    "a link back at the end of the page is navigation": (
        "<h2>Fees</h2><p>None at all, for nobody, at any time of the year, in all of our rooms.</p><p><a href=/>Back</a></p>",
        [("Fees", "None at all, for nobody, at any time of the year, in all of our rooms.")],
    ),
    "a link forward at the end of the page is content": (
        "<h2>Fees</h2><p>None at all, for nobody, at any time of the year, in all of our rooms.</p>"
        "<p><a href=/form>Register your team here</a></p>",
        [
            ("Fees", "None at all, for nobody, at any time of the year, in all of our rooms."),
            ("Fees", "Register your team here"),
        ],
    ),
    "a short link between texts is content": (
        f"<h2>Fees</h2><p>Apply with the form.</p><p><a href=/form>The form</a></p>{FILLER}",
        [("Fees", "Apply with the form."), ("Fees", "The form"), ("Fees", None)],
    ),
    "a note in a language without spaces keeps its heading": (
        "<section class=info><h2>选民登记截止日期</h2><p>选举日前 20 天</p></section>",
        [("选民登记截止日期", "选举日前 20 天")],
    ),
    "what is named like a note but has several headings is no note": (
        "<h2>Visit</h2><div class=article-info><p>Two ways.</p><h2>By bus</h2><p>Line 4.</p>"
        "<h3>Tickets</h3><p>On board.</p></div>",
        [("Visit", "Two ways."), ("By bus", "Line 4."), ("By bus > Tickets", "On board.")],
    ),
    "the id of a heading makes it no furniture": (
        "<h3 id=social-event>Social event</h3><p>On Thursday evening.</p>",
        [("Social event", "On Thursday evening.")],
    ),
    "the nested bullets of a step belong to the step": (
        "<ol><li><p>Fill in the form:</p><ul><li>your name</li><li>your age</li></ul><figure><img src=x></figure>"
        "</li><li><p>Send it.</p></li></ol>",
        [("", "1. Fill in the form:\n  - your name\n  - your age"), ("", "2. Send it.")],
    ),
    "marks without words are read by their names": (
        "<table><tr><th></th><th>Basic</th><th>Full</th></tr><tr><td>Parking</td><td><img alt=No src=n></td>"
        "<td><svg><title>Yes</title></svg></td></tr><tr><td>Sauna</td><td><i class='fa fa-times'></i></td>"
        "<td><i class='fa fa-check'></i></td></tr><tr><td>Pool</td><td><span aria-label='Weekends only'></span></td>"
        "<td>✓</td></tr></table>",
        [("", "\tBasic\tFull\nParking\tNo\tYes\nSauna\t✗\t✓\nPool\tWeekends only\t✓")],
    ),
    "a picture with a name of its own is read": (
        '<p>See the map.</p><span role="img" aria-label="The hall is on the second floor"></span>',
        [("", "See the map."), ("", "The hall is on the second floor")],
    ),
    "a link that only has a label says its label": (
        '<p>Phone: <a href="tel:+441942123456" aria-label="01942 123456"><svg></svg></a></p>',
        [("", "Phone: 01942 123456")],
    ),
    "a table of one column keeps its head": (
        "<table><thead><tr><th>First vaccination</th></tr></thead><tbody><tr><td>One dose is enough.</td></tr></tbody></table>",
        [("First vaccination", "One dose is enough.")],
    ),
    "an address is one block": (
        "<h2>Visit</h2><address>The Mill<br>1 High Street<br>Leigh WN7 1AA</address>",
        [("Visit", "The Mill 1 High Street Leigh WN7 1AA")],
    ),
    "terms and definitions in wrappers stay together": (
        "<h2>Hours</h2><dl><div><dt>Monday</dt><dd>18:00 to 21:00</dd></div><div><dt>Saturday</dt><dd>Closed</dd></div></dl>",
        [("Hours", "- Monday\n  18:00 to 21:00\n- Saturday\n  Closed")],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_piece_is_below_its_heading(read, name: str) -> None:
    markup, expected = CASES[name]
    blocks = read(f"<title>Page</title><body><main>{FILLER}{markup}</main></body>").page.blocks[1:]
    found = [(" > ".join(block.heading_path), block.text) for block in blocks]
    wanted = [
        (path, found[place][1] if text is None else text) for place, (path, text) in enumerate(expected)
    ]
    assert found == wanted


def test_what_is_too_long_for_a_heading_is_text(read) -> None:
    prose = "The house put its whole story into one heading, from its first guests to today. " * 5
    markup = f"<h2>House</h2><h3>{prose}</h3><p>Come in.</p>"
    blocks = read(f"<title>Page</title><body><main>{FILLER}{markup}</main></body>").page.blocks[1:]
    assert [(block.heading_path, block.text) for block in blocks] == [
        (("House",), prose.strip()),
        (("House",), "Come in."),
    ]


def test_headings_within_headings_do_not_multiply_a_page(read) -> None:
    nested = "".join(f"<div><h2>{'Part ' * 50}{number}</h2><p>Text {number}.</p>" for number in range(100))
    blocks = read(
        f"<title>Page</title><body><main>{FILLER}{nested}{'</div>' * 100}</main></body>"
    ).page.blocks
    assert [block.text for block in blocks][1:] == [f"Text {number}." for number in range(100)]
    assert max(sum(map(len, block.heading_path)) for block in blocks) < 4000


@pytest.mark.parametrize("tag", ["del", "s", "strike"])
def test_what_is_struck_out_is_not_read(read, tag):
    page = read(f"<main>{FILLER}<p>Send it until <{tag}>27 January</{tag}> 3 February.</p></main>").page
    assert page.text.endswith("Send it until 3 February.")


def test_what_is_struck_out_in_a_list_leaves_a_space_and_code_and_headings_keep_it(read):
    markup = "<ul><li>Old<del>10</del>8 euros</li></ul><pre><del>-old</del>\n+new</pre><h2><s>Fair</s></h2><p>In May.</p>"
    page = read(f"<main>{FILLER}{markup}</main>").page
    assert [block.text for block in page.blocks[1:]] == ["- Old 8 euros", "-old\n+new", "In May."]
    assert page.blocks[-1].heading_path == ("Fair",)
