"""What visitors of the shop ask in vain, and the page that would answer it."""

QUESTION = "How long is the warranty on a lamp?"
WARRANTY = (
    "Warranty",
    "<h2>How long the warranty lasts</h2><p>The warranty of every lamp lasts three years from the day of the "
    "purchase. Keep the receipt for the warranty.</p>",
)
