"""Share of the chunks of websites that hold what surrounds the content: menus, breadcrumbs, banners.

    python -m benchmarks.noise FOLDER [FOLDER ...] [--data DIR] [--show]

`noise_lines.txt` has 200 lines of the four sites of `benchmarks.visitor_sites` that nobody wants quoted,
chosen by hand: breadcrumbs, menus, logos, skip links, cookie banners, search and newsletter forms, "related
pages". The sites' words are not in the repository: each line is the beginning of the SHA-256 of the text in
lower case, with white space folded. A chunk is noise if one of its lines is on the list.

Each FOLDER is crawled as for `benchmarks.visitor_sites`. Printed for each: its chunks, those with noise and
their share, the bar being 2 %, and which lines occur how often; `--show` adds their words.
"""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from pathlib import Path

from benchmarks.command_line import argument_parser
from benchmarks.visitor_sites import crawled_sites, folded

LINES = Path(__file__).with_name("noise_lines.txt")
DIGITS = 16


def print_of(line: str) -> str:
    """Return the digits by which the list knows a line."""
    return sha256(folded(line).encode()).hexdigest()[:DIGITS]


def main() -> None:
    """Print a line for each folder, and one for each line of the list that occurs."""
    parser = argument_parser(__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--data", type=Path, help="data folder to keep; a site in it is not crawled again")
    parser.add_argument("--show", action="store_true", help="print the words of the lines that occur")
    given = parser.parse_args()
    noise = frozenset(LINES.read_text().split())
    with crawled_sites(given.folders, given.data) as runtime:
        for folder in given.folders:
            chunks = list(runtime.stores.content(folder.name).every_chunk())
            found: Counter[str] = Counter()
            noisy = 0
            for chunk in chunks:
                lines = {line for line in chunk.text.split("\n") if print_of(line) in noise}
                found.update(lines)
                noisy += bool(lines)
            share = 100 * noisy / max(1, len(chunks))
            print(f"{folder.name}: {len(chunks)} chunks, {noisy} with noise, {share:.2f} %")
            for line, count in found.most_common():
                print(f"  {count:4} {print_of(line)}{' ' + line if given.show else ''}")


if __name__ == "__main__":
    main()
