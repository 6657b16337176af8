"""How the program behaves as a process: pipes that close, full disks, progress, terminals."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios

from cli_support import GOOD, IO, Skip, ashuf, expect, main, program, put, small

FULL = "ashuf: standard output: cannot write: No space left on device\n"


def test_full_disk():
    put("small.arrows", small())
    for arguments in (("cat", "small.arrows"), ("cat", "small.arrows", "--format", "arrow"),
                      ("cat", "small.arrows", "--format", "box"), ("info", "small.arrows"),
                      ("verify", "small.arrows"), ("--help",), ("cat", "--help"), ("--version",)):
        with open("/dev/full", "wb") as full:
            expect(ashuf(*arguments, stdout=full), IO, err=FULL)


def test_closed_standard_output():
    put("small.arrows", small())
    child = subprocess.run(["sh", "-c", '"$0" cat small.arrows >&-', program()],
                           stderr=subprocess.PIPE, check=False)
    assert child.returncode == IO
    assert child.stderr == b"ashuf: standard output: cannot write: Bad file descriptor\n"


def test_reader_that_goes_away_is_no_error_message():
    put("small.arrows", small())
    files = " ".join(["small.arrows"] * 500)
    child = subprocess.run(["sh", "-c", f'"$0" cat {files} | head -n 1', program()],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert child.returncode == 0 and child.stderr == b""
    assert child.stdout.startswith(b"id,name,")


def test_no_progress_in_a_pipe():
    put("small.arrows", small())
    expect(ashuf("cat", "small.arrows"), GOOD, err="")


def test_progress_is_erased_at_the_end():
    put("small.arrows", small())
    result = expect(ashuf("cat", "small.arrows", env={"ASHUF_PROGRESS": "always"}), GOOD)
    assert "6 rows" in result.err and result.err.endswith("\r\x1b[K"), result.err


def test_progress_by_option():
    put("small.arrows", small())
    result = expect(ashuf("cat", "small.arrows", "--progress"), GOOD)
    assert "6 rows, " in result.err and " rows/s" in result.err, result.err
    always = {"ASHUF_PROGRESS": "always"}
    expect(ashuf("cat", "small.arrows", "--no-progress", env=always), GOOD, err="")
    result = expect(ashuf("write", "small.arrows", "-o", "out", "--partitions", "2", "--progress"),
                    GOOD)
    assert "6 rows, " in result.err and result.err.endswith("\r\x1b[K"), result.err
    for command in ("verify", "info"):
        assert "6 rows, " in expect(ashuf(command, "out", "--progress"), GOOD).err
    result = expect(ashuf("verify", "--compare", "out", "out", "--progress"), GOOD)
    assert " rows, " in result.err and result.err.endswith("\r\x1b[K"), result.err


def on_terminal(*arguments, columns=200):
    """What the program prints where standard output is a terminal."""
    try:
        ours, theirs = pty.openpty()
    except OSError as why:
        raise Skip(str(why)) from why
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    child = subprocess.Popen([program(), *arguments], stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    out = b""
    while select.select([ours], [], [], 60)[0]:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        out += piece
    err = child.stderr.read()
    child.stderr.close()
    os.close(ours)
    return child.wait(timeout=60), out.decode().replace("\r\n", "\n"), err.decode()


def test_a_terminal_gets_tables():
    put("small.arrows", small())
    status, out, err = on_terminal("cat", "small.arrows")
    assert (status, err) == (GOOD, "") and out.startswith("┌") and "6 rows, 9 columns" in out
    status, out, err = on_terminal("info", "small.arrows")
    assert (status, err) == (GOOD, "") and "\t" not in out
    assert "\nschema of small.arrows\n  id  int64 not null\n" in out, out


def test_columns_that_do_not_fit_are_left_out_and_told():
    put("small.arrows", small())
    status, out, err = on_terminal("cat", "small.arrows", columns=60)
    assert (status, err) == (GOOD, "")
    assert max(map(len, out.splitlines())) <= 60, out
    assert out.endswith("\n6 rows, 9 columns (3 shown)\n"), out


def test_arrow_is_not_for_a_terminal():
    put("small.arrows", small())
    status, out, err = on_terminal("cat", "small.arrows", "--format", "arrow")
    assert (status, out) == (2, "")
    assert err == ("ashuf: cat: --format arrow is not for a terminal; send it to a file or a "
                   "pipe\n")


if __name__ == "__main__":
    main()
