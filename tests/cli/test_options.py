"""Help, version, and what is said where the command line asks for what cannot be."""

import re

from cli_support import GOOD, USAGE, ashuf, expect, main, put, small

COMMANDS = ("write", "cat", "info", "verify")


def usage(*arguments, err):
    expect(ashuf(*arguments), USAGE, out="", err=f"ashuf: {err}\n")


def test_version_is_one_line_everywhere():
    for arguments in (("--version",), *((name, "--version") for name in COMMANDS)):
        out = expect(ashuf(*arguments), GOOD, err="").out
        assert re.fullmatch(r"ashuf \d+\.\d+\.\d+\n", out), out


def test_help_names_all_commands():
    for word in ("-h", "--help"):
        out = expect(ashuf(word), GOOD, err="").out
        assert out.startswith("usage: ashuf COMMAND"), out
        for name in COMMANDS:
            assert f"\n  {name} " in out, name


def test_help_of_a_command_has_options_examples_and_exit_status():
    for name in COMMANDS:
        long = expect(ashuf(name, "--help"), GOOD, err="").out
        assert long == expect(ashuf(name, "-h"), GOOD, err="").out
        assert long.startswith(f"usage: ashuf {name} ")
        for part in ("\nOptions:\n", "\nExamples:\n", "\nExit status:\n", "--format FORMAT"):
            assert part in long, (name, part)
        assert max(map(len, long.splitlines())) <= 100, name


def test_help_wins_over_what_else_is_wrong():
    expect(ashuf("write", "--partitions", "3", "--help"), GOOD, err="")


def test_no_command():
    usage(err="no command; see 'ashuf --help'")


def test_unknown_command_names_the_nearest():
    usage("wriet", err="unknown command 'wriet'; did you mean 'write'?")
    usage("frobnicate", err="unknown command 'frobnicate'; see 'ashuf --help'")
    usage("--hlep", err="unknown option '--hlep'; did you mean '--help'?")


def test_unknown_option_names_the_nearest():
    usage("write", "--partitons", "3",
          err="write: unknown option '--partitons'; did you mean '--partitions'?")
    usage("cat", "--Format=csv", "x", err="cat: unknown option '--Format'; did you mean '--format'?")
    usage("cat", "--zzzzzzzz", "x", err="cat: unknown option '--zzzzzzzz'; see 'ashuf cat --help'")
    usage("info", "-x", err="info: unknown option '-x'; see 'ashuf info --help'")


def test_control_bytes_of_arguments_are_not_printed_raw():
    usage("cat", "--\x1b[31mred", err="cat: unknown option '--\\x1b[31mred'; see 'ashuf cat --help'")


def test_values_of_options():
    usage("cat", "--limit", err="cat: --limit needs a value: N")
    usage("cat", "--limit", "ten", "x",
          err="cat: --limit: 'ten' is not a whole number from 0 to 9223372036854775807")
    usage("cat", "--format", "xml", "x",
          err="cat: --format: 'xml' is not one of auto, box, csv, jsonl or arrow")
    usage("info", "--partitions=3", "x", err="info: --partitions takes no value")


def test_arguments_are_required():
    usage("cat", err="cat: no FILE or DIR given; see 'ashuf cat --help'")
    usage("info", err="info: no FILE or DIR given; see 'ashuf info --help'")
    usage("verify", err="verify: no FILE or DIR given; see 'ashuf verify --help'")
    usage("write", "-o", "out", "--partitions", "1",
          err="write: no INPUT given; see 'ashuf write --help'")


def test_write_says_what_is_missing_or_impossible():
    usage("write", "x", "--partitions", "1", err="write: -o DIR is missing")
    usage("write", "x", "-o", "out", err="write: --partitions N is missing")
    for number in ("0", "-1", "2147483648", "1.5", ""):
        usage("write", "x", "-o", "out", "--partitions", number,
              err=f"write: --partitions: '{number}' is not a whole number from 1 to 2147483646")
    usage("write", "x", "-o", "out", "--partitions", "1", "--codec", "gzip",
          err="write: --codec: 'gzip' is not one of lz4, none, zstd or snappy")
    usage("write", "x", "-o", "out", "--partitions", "1", "--codec", "zstd", "--level", "23",
          err="write: --level: 23 is not a level of zstd (-131072 to 22)")
    usage("write", "x", "-o", "out", "--partitions", "1", "--codec", "snappy", "--level", "1",
          err="write: --level: codec snappy has no levels")
    usage("write", "x", "-o", "out", "--partitions", "1", "--dictionaries", "drop",
          err="write: --dictionaries: 'drop' is not one of keep or plain")
    usage("write", "-", "-", "-o", "out", "--partitions", "1",
          err="write: '-' can be one INPUT only")


def test_two_dashes_end_the_options():
    put("-x", small())
    expect(ashuf("cat", "--limit", "0", "--", "-x"), GOOD,
           out="id,name,price,day,at,sum,raw,ok,tags\n", err="")


def test_spellings_of_an_option():
    put("small.arrows", small())
    for spelling in (("--limit=1",), ("--limit", "1")):
        out = expect(ashuf("cat", *spelling, "small.arrows"), GOOD, err="").out
        assert len(out.splitlines()) == 2
    for spelling in (("-oout",), ("-o", "out"), ("--output", "out"), ("--output=out",)):
        expect(ashuf("write", "small.arrows", "--partitions", "1", *spelling), GOOD, err="")


if __name__ == "__main__":
    main()
