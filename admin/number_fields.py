"""Fields for numbers, with one sentence for whatever is wrong with what was typed."""

from __future__ import annotations

from math import isfinite

from wtforms import FloatField, IntegerField


class WholeNumber(IntegerField):  # type: ignore[misc]  # WTForms has no types
    """From `least` to `most`, both included."""

    def __init__(self, label: str, *, least: int, most: int, **options: object) -> None:
        super().__init__(label, **options)
        self.least, self.most = least, most

    def process_formdata(self, valuelist: list[str]) -> None:
        """Raises ValueError with the sentence."""
        text = (valuelist[0] if valuelist else "").strip()
        if not (text.isascii() and text.isdigit() and self.least <= int(text[:12]) <= self.most):
            self.data = None
            raise ValueError(f"Write a whole number from {self.least:,} to {self.most:,}.")
        self.data = int(text)


class Decimal(FloatField):  # type: ignore[misc]  # as above
    """From `least` to `most`, both included; with a point or a comma."""

    def __init__(self, label: str, *, least: float, most: float, **options: object) -> None:
        super().__init__(label, **options)
        self.least, self.most = least, most

    def process_formdata(self, valuelist: list[str]) -> None:
        """Raises ValueError with the sentence."""
        text = (valuelist[0] if valuelist else "").strip().replace(",", ".")
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not isfinite(value) or not self.least <= value <= self.most:
            self.data = None
            raise ValueError(f"Write a number from {self.least:g} to {self.most:g}.")
        self.data = value

    def _value(self) -> str:
        return f"{self.data:g}" if self.data is not None else (self.raw_data or [""])[0]
