#!/usr/bin/env python3
"""Who may include what.

    scripts/check_layers.py [ROOT]       check the tree
    scripts/check_layers.py --self-test  check the checker

The table below is the layer diagram of docs/ARCHITECTURE.md. Beside it: a .c file includes its own
header first, an x_int.h is for its folder alone, each third-party header is included in one file,
which in src/ is a .c, public headers include each other alone, and programs see the public headers alone.
"""

import pathlib
import re
import sys
import tempfile

ALLOWED = {
    "base": set(),
    "os": {"base"},
    "codec": {"base"},
    "flatbuf": {"base"},
    "arrow": {"base"},
    "ipc": {"base", "os", "codec", "flatbuf", "arrow"},
    "block": {"base", "codec", "arrow", "ipc"},
    "partition": {"base", "os", "arrow", "ipc"},
    "shuffle": {"base", "os", "codec", "arrow", "ipc", "block", "partition"},
    "api": {"base", "os", "codec", "flatbuf", "arrow", "ipc", "block", "partition", "shuffle"},
}

# Headers of C, of POSIX, and of the compiler; whatever else stands in <> is a third party's.
SYSTEM = re.compile(
    r"^(assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal|"
    r"stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|strings|"
    r"tgmath|threads|time|uchar|wchar|wctype|dirent|dlfcn|fcntl|fnmatch|getopt|glob|libgen|poll|"
    r"pthread|sched|semaphore|spawn|termios|unistd|endian|alloca|malloc|"
    r"immintrin|x86intrin|[a-z]mmintrin|cpuid|arm_neon|arm_acle|(sys|linux|sanitizer)/[a-z_]+)\.h$"
)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def includes(path):
    """[(line, is_system_style, name)] of a file, comments left out."""
    text = path.read_text(encoding="utf-8")
    text = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    return [(text.count("\n", 0, m.start(2)) + 1, m.group(1) == "<", m.group(2))
            for m in INCLUDE.finditer(text)]


class Checker:
    def __init__(self, root):
        self.root = root
        self.complaints = []
        self.third_party = {}  # header -> files that include it

    def complain(self, path, line, text):
        self.complaints.append(f"{path.relative_to(self.root)}:{line}: {text}")

    def files(self, folder, pattern="*.[ch]"):
        return sorted((self.root / folder).rglob(pattern)) if (self.root / folder).is_dir() else []

    def note_system(self, path, line, name):
        """A header in <>: one of ours, the system's, or a third party's."""
        if name.startswith("ashuf/") or SYSTEM.match(name):
            return
        if path.suffix == ".h" and self.root / "src" in path.parents:
            self.complain(path, line, f"<{name}> in a header; include it in the one .c that uses it")
            return
        # The benchmarks call the codecs once more, to compare with them.
        place = (name, path.parent.name == "bench")
        self.third_party.setdefault(place, []).append((path, line))

    def check_source(self, path):
        folder = path.parent.name
        if path.parent.parent != self.root / "src" or folder not in ALLOWED:
            self.complain(path, 1, "not in a folder of the layer table")
            return
        found = includes(path)
        for line, system, name in found:
            if system:
                self.note_system(path, line, name)
                continue
            other = name.split("/")[0]
            if "/" not in name or not (self.root / "src" / name).is_file():
                self.complain(path, line, f'"{name}" is not a path from src/')
            elif other != folder and other not in ALLOWED[folder]:
                self.complain(path, line, f'{folder} may not include {other} ("{name}")')
            elif other != folder and name.endswith("_int.h"):
                self.complain(path, line, f'"{name}" is for {other} alone')
        if path.suffix == ".c":
            self.check_first(path, folder, found)

    def check_first(self, path, folder, found):
        own = [f"{folder}/{path.stem}{end}" for end in (".h", "_int.h")]
        own = [name for name in own if (self.root / "src" / name).is_file()]
        first = found[0] if found else (1, False, "nothing")
        if own and first[2] != own[0]:
            self.complain(path, first[0], f'includes {first[2]} before its own header "{own[0]}"')

    def check_public(self, path):
        for line, system, name in includes(path):
            if not system or not (name.startswith("ashuf/") or SYSTEM.match(name)):
                self.complain(path, line, f"a public header may not include {name}")

    def check_program(self, path, may_use_src):
        for line, system, name in includes(path):
            if system:
                self.note_system(path, line, name)
            elif (self.root / "src" / name).is_file() and not (path.parent / name).is_file():
                if not may_use_src:
                    self.complain(path, line, f'"{name}" is internal; programs see <ashuf/...> alone')
            elif path.parent == self.root / "fuzz" and self.is_test_support(name):
                continue
            elif not (path.parent / name).is_file() or ".." in name:
                self.complain(path, line, f'"{name}" is not a header beside it')

    def is_test_support(self, name):
        """Fuzzers are built like tests: they see each other and what tests share."""
        return (self.root / name).is_file() or (self.root / "tests" / name).is_file()

    def check_third_party(self):
        for (name, _), places in sorted(self.third_party.items()):
            for path, line in places[1:]:
                self.complain(path, line, f"<{name}> is included in {places[0][0].name} already; "
                              "one file for each third-party header")

    def run(self):
        for path in self.files("src"):
            self.check_source(path)
        for path in self.files("include"):
            self.check_public(path)
        for folder, may_use_src in (("cli", False), ("examples", False), ("bench", True), ("fuzz", True)):
            for path in self.files(folder):
                self.check_program(path, may_use_src)
        self.check_third_party()
        return self.complaints


GOOD = {
    "include/ashuf/ashuf.h": "#include <stdint.h>\n",
    "src/base/error.h": "#include <ashuf/ashuf.h>\n",
    "src/base/error.c": '/* #include "shuffle/writer.h" */\n#include "base/error.h"\n#include <stdio.h>\n',
    "src/codec/codec.h": '#include "base/error.h"\n',
    "src/codec/codec_int.h": '#include "codec/codec.h"\n',
    "src/codec/zstd.c": '#include "codec/codec_int.h"\n#include <zstd.h>\n',
    "src/ipc/body.h": '#include "codec/codec.h"\n',
    "cli/cli.h": "#include <ashuf/ashuf.h>\n",
    "cli/main.c": '#include "cli.h"\n#include <jansson.h>\n',
    "bench/bench_x.c": '#include "ipc/body.h"\n',
}
BAD = [  # files laid over the good tree, and what must be said
    ({"src/base/up.h": '#include "codec/codec.h"\n'}, "base may not include codec"),
    ({"src/os/file.h": '#include "codec/codec.h"\n'}, "os may not include codec"),
    ({"src/ipc/read.h": '#include "codec/codec_int.h"\n'}, "is for codec alone"),
    ({"src/base/error.c": '#include <stdio.h>\n#include "base/error.h"\n'}, "before its own header"),
    ({"src/codec/other.c": '#include "codec/codec.h"\n#include <zstd.h>\n'}, "is included in other.c already"),
    ({"src/codec/codec.h": "#include <zstd.h>\n"}, "in a header"),
    ({"src/base/error.c": '#include "base/error.h"\n#include "error.h"\n'}, "is not a path from src/"),
    ({"src/extra/x.h": "\n"}, "not in a folder of the layer table"),
    ({"include/ashuf/more.h": '#include "base/error.h"\n'}, "a public header may not include"),
    ({"cli/main.c": '#include "base/error.h"\n'}, "programs see <ashuf/...> alone"),
    ({"examples/x/main.c": '#include "../../src/base/error.h"\n'}, "is not a header beside it"),
]


def check_tree(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        return Checker(root).run()


def self_test():
    failures = [f"good tree: {text}" for text in check_tree(GOOD)]
    for files, wanted in BAD:
        complaints = check_tree({**GOOD, **files})
        if len(complaints) != 1 or wanted not in complaints[0]:
            failures.append(f"{list(files)[0]}: wanted one complaint '{wanted}', got {complaints}")
    for text in failures:
        print(f"check_layers: self-test: {text}", file=sys.stderr)
    return 1 if failures else 0


def main(arguments):
    if arguments[1:] == ["--self-test"]:
        return self_test()
    root = pathlib.Path(arguments[1]) if len(arguments) > 1 else pathlib.Path(__file__).parent.parent
    checker = Checker(root.resolve())
    complaints = checker.run()
    for text in complaints:
        print(text, file=sys.stderr)
    if not complaints:
        print(f"layers: {len(checker.files('src'))} files in src/ include what they may")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
