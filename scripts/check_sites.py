#!/usr/bin/env python3
"""Error sites: every SITE_ constant has an explicit number, its own, from the range of its folder.

    scripts/check_sites.py [ROOT]       check the tree
    scripts/check_sites.py --self-test  check the checker

The ranges are those that the comment of src/base/error.h states.
"""

import pathlib
import re
import sys
import tempfile

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
ENUM = re.compile(r"\benum\b[^;{}()]*\{([^{}]*)\}", re.S)
NUMBER = re.compile(r"^(0x[0-9a-fA-F]+|[0-9]+)$")
RANGE = re.compile(r"\b([a-z]+) ([0-9]+)-([0-9]+)\b")


def blank_comments(text):
    return COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def read_ranges(root):
    text = (root / "src/base/error.h").read_text(encoding="utf-8")
    comment = COMMENT.search(text).group()
    return {m.group(1): (int(m.group(2)), int(m.group(3))) for m in RANGE.finditer(comment)}


def sites(path):
    """[(line, name, value text or None)] of the enums of a file."""
    text = blank_comments(path.read_text(encoding="utf-8"))
    found = []
    for body in ENUM.finditer(text):
        for m in re.finditer(r"\b(SITE_\w+)\s*(?:=\s*([^,}]*))?", body.group(1)):
            value = m.group(2).strip() if m.group(2) is not None else None
            found.append((text.count("\n", 0, body.start(1) + m.start()) + 1, m.group(1), value))
    return found


def check(root):
    ranges = read_ranges(root)
    complaints, by_number, by_name = [], {}, {}
    for path in sorted((root / "src").rglob("*.[ch]")):
        folder = path.relative_to(root / "src").parts[0]
        for line, name, value in sites(path):
            place = f"{path.relative_to(root)}:{line}"
            if name in by_name:
                complaints.append(f"{place}: {name} is defined at {by_name[name]} already")
            by_name.setdefault(name, place)
            if value is None or not NUMBER.match(value):
                complaints.append(f"{place}: {name} needs an explicit number")
                continue
            number = int(value, 0)
            if number in by_number:
                complaints.append(f"{place}: {name} = {number} is {by_number[number]} already")
            by_number.setdefault(number, f"{name} at {place}")
            if folder not in ranges:
                complaints.append(f"{place}: src/base/error.h gives {folder} no range")
            elif not ranges[folder][0] <= number <= ranges[folder][1]:
                low, high = ranges[folder]
                complaints.append(f"{place}: {name} = {number} is outside {folder}'s range {low}-{high}")
    return complaints, len(by_name)


HEADER = "/* Ranges: base 1-99, os 100-199,\n * codec 200-299. */\n"
CASES = [  # file, text, what must be said (None: nothing)
    ("src/os/a.h", "enum { SITE_A = 100, /* SITE_B, */ SITE_C = 199 };", None),
    ("src/os/a.h", "enum sites { SITE_A = 100, SITE_B };", "SITE_B needs an explicit number"),
    ("src/os/a.h", "enum { SITE_A = OTHER + 1 };", "SITE_A needs an explicit number"),
    ("src/os/a.h", "enum { SITE_A = 100, SITE_B = 100 };", "SITE_B = 100 is SITE_A at"),
    ("src/os/a.c", "enum { SITE_A = 7 };", "outside os's range 100-199"),
    ("src/os/a.c", "enum { SITE_BASE = 101 };", "SITE_BASE is defined at"),
    ("src/new/a.c", "enum { SITE_A = 7 };", "gives new no range"),
]


def self_test():
    failures = []
    for name, text, wanted in CASES:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / "src/base").mkdir(parents=True, exist_ok=True)
            (root / "src/base/error.h").write_text(HEADER + "enum { SITE_BASE = 1 };\n", encoding="utf-8")
            (root / name).write_text(text, encoding="utf-8")
            complaints, _ = check(root)
        if [wanted] * (wanted is not None) != [wanted] * len(complaints) or any(
                wanted not in one for one in complaints):
            failures.append(f"{text} wanted '{wanted}', got {complaints}")
    for text in failures:
        print(f"check_sites: self-test: {text}", file=sys.stderr)
    return 1 if failures else 0


def main(arguments):
    if arguments[1:] == ["--self-test"]:
        return self_test()
    root = pathlib.Path(arguments[1]) if len(arguments) > 1 else pathlib.Path(__file__).parent.parent
    complaints, count = check(root.resolve())
    for text in complaints:
        print(text, file=sys.stderr)
    if not complaints:
        print(f"sites: {count} error sites, each with its own number in its folder's range")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
