from server.answering.verifying.text_fragment import text_fragment_link

PAGE = "https://shop.example/help"


def test_a_short_quote_is_given_whole_and_encoded():
    link = text_fragment_link(PAGE, "Two-day delivery, free & easy")
    assert link == f"{PAGE}#:~:text=Two%2Dday%20delivery%2C%20free%20%26%20easy"


def test_a_long_quote_is_given_by_its_ends():
    quote = "Orders that are placed before noon leave our warehouse the same day and arrive within two working days."
    assert (
        text_fragment_link(PAGE, quote)
        == f"{PAGE}#:~:text=Orders%20that%20are%20placed,within%20two%20working%20days."
    )


def test_cells_and_items_are_spanned_from_the_first_to_the_last():
    assert text_fragment_link(PAGE, "Parcel\t2 days\t4.50") == f"{PAGE}#:~:text=Parcel,4.50"


def test_the_heading_stays_in_the_link_for_browsers_without_text_fragments():
    assert text_fragment_link(f"{PAGE}#old", "Free.", anchor="costs") == f"{PAGE}#costs:~:text=Free."


def test_a_start_that_stands_twice_gets_the_words_before_it():
    text = "Books cost nothing. It is free.\nFor members only: It is free."
    link = text_fragment_link(PAGE, "It is free.", text)
    assert link.startswith(f"{PAGE}#:~:text=books%20cost%20nothing.-,It%20is%20free.")


def test_a_quote_of_several_blocks_leads_to_the_place_that_goes_on_like_it():
    text = "Delivery\n2 days\nDelivery\n5 days"
    assert text_fragment_link(PAGE, "Delivery\n5 days", text) == f"{PAGE}#:~:text=2%20days-,Delivery,5%20days"
    assert text_fragment_link(PAGE, "Delivery\n2 days", text) == f"{PAGE}#:~:text=Delivery,2%20days"


def test_text_without_spaces_is_given_whole():
    quote = "営業時間は平日の午前九時から午後五時までです。"
    assert "," not in text_fragment_link(PAGE, quote)


def test_without_words_the_plain_address_remains():
    assert text_fragment_link(PAGE, " \n ") == PAGE


def test_the_page_of_a_pdf_is_named_as_viewers_read_it():
    link = text_fragment_link("https://example.com/a.pdf", "Wipe the glass.", anchor="page=7")
    assert link == "https://example.com/a.pdf#page=7:~:text=Wipe%20the%20glass."
