"""What the scripts here share: tables in Markdown, and the part of a page between two markers."""

import os

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGE = os.path.join(ROOT, "docs", "PERFORMANCE.md")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def read_page():
    with open(PAGE, encoding="utf-8") as file:
        return file.read()


def replace_part(name, text):
    """Puts text between <!-- name: begin --> and <!-- name: end --> of the page."""
    page = read_page()
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    start = page.index(begin) + len(begin)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page[:start] + "\n\n" + text + "\n" + page[page.index(end):])
