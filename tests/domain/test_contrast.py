import pytest

from server.domain.look import contrast, text_on


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [
        ("#000000", "#ffffff", 21.0),
        ("#777777", "#ffffff", 4.48),
        ("#767676", "#ffffff", 4.54),
        ("#abcdef", "#abcdef", 1),
    ],
)
def test_contrast_is_that_of_wcag(one, other, ratio):
    assert contrast(one, other) == pytest.approx(ratio, abs=0.01)
    assert contrast(one, other) == contrast(other, one)


def test_the_better_of_black_and_white_can_be_read_on_every_colour():
    steps = [f"{step:02x}" for step in range(0, 256, 17)]
    colours = [f"#{red}{green}{blue}" for red in steps for green in steps for blue in steps]
    assert min(contrast(text_on(colour), colour) for colour in colours) >= 4.5
