"""The HTML of a report: the page, its sections, and tables that scroll within their own box."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

MAX_COLUMNS = 8  # per table, so that a table fits a printed page.

MISSING = "—"  # the text of a cell without a value

_STYLE = """
:root { color-scheme: light; --line: #d5dae1; --quiet: #566272; --accent: #0b5394; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 62rem; color: #1b2430; background: #fff;
  font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; padding-top: .8rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.02rem; margin: 1.4rem 0 .3rem; }
p { margin: .4rem 0; max-width: 46rem; }
a { color: var(--accent); }
nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; padding: 0; margin: .8rem 0; list-style: none; }
.note { color: var(--quiet); font-size: .88rem; }
.scroll { overflow-x: auto; max-width: 100%; margin: .5rem 0 1rem; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
th, td { padding: .25rem .7rem .25rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid #9aa5b3; vertical-align: bottom; }
td { min-width: 4.5rem; }
td:first-child { min-width: 8rem; }
.number { text-align: right; }
td.number { white-space: nowrap; }
tr.pick td { background: #eef5fc; }
figure { margin: .5rem 0 1rem; max-width: 36rem; }
figure svg { display: block; width: 100%; height: auto; }
ul.legend { display: flex; flex-wrap: wrap; gap: .15rem 1rem; padding: 0; margin: .3rem 0; list-style: none;
  font-size: .88rem; }
ul.legend svg { display: inline-block; width: 34px; height: 12px; margin-right: .35rem; vertical-align: middle; }
"""


def page(title: str, body: str) -> str:
    """Return a whole page that refers to nothing outside of itself."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'  # Without it a browser asks the server for an icon.
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{body}\n</body>\n</html>\n"
    )


def section(key: str, title: str, *parts: str) -> str:
    """Return a section that links reach by its *key*."""
    return f'<section id="{escape(key)}">\n<h2>{escape(title)}</h2>\n' + "\n".join(parts) + "\n</section>"


def contents(titles: Iterable[tuple[str, str]]) -> str:
    """Return a list of links to sections; each is given by its key and its title."""
    items = "".join(f'<li><a href="#{escape(key)}">{escape(title)}</a></li>' for key, title in titles)
    return f"<nav><ul>{items}</ul></nav>"


def heading(text: str) -> str:
    return f"<h3>{escape(text)}</h3>"


def paragraph(text: str, *, is_note: bool = False) -> str:
    return f"<p{_class('note', is_note)}>{escape(text)}</p>"


def table(
    headers: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "", picked: Iterable[int] = ()
) -> str:
    """Return a table in a box that scrolls sideways if the page is narrower.

    Parameters
    ----------
    headers : sequence of str
        At most ``MAX_COLUMNS`` of them.
    rows : iterable of sequences
        Texts and numbers. A column of numbers is aligned to the right.
    caption : str
    picked : iterable of int
        The numbers of rows with a coloured background.
    """
    assert len(headers) <= MAX_COLUMNS, f"{len(headers)} columns"
    cells, marked = [[str(value) for value in row] for row in rows], set(picked)
    numeric = [all(map(_is_number, column)) for column in zip(*cells, strict=True)] or [False] * len(headers)
    classes = [_class("number", is_number) for is_number in numeric]
    head = "".join(f'<th scope="col"{kind}>{escape(text)}</th>' for kind, text in zip(classes, headers, strict=True))
    body = "".join(
        f"<tr{_class('pick', number in marked)}>"
        + "".join(f"<td{kind}>{escape(text)}</td>" for kind, text in zip(classes, row, strict=True))
        + "</tr>\n"
        for number, row in enumerate(cells)
    )
    about = paragraph(caption, is_note=True) if caption else ""
    scrolls = f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(caption or headers[0])}">'
    return f"{about}{scrolls}<table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>"


def _is_number(text: str) -> bool:
    return text in ("", MISSING) or text.replace(",", "").replace(".", "", 1).replace("e-", "", 1).isdigit()


def _class(name: str, is_of: bool) -> str:
    return f' class="{name}"' if is_of else ""
