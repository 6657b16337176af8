"""ashuf write: older outputs stay whole until new ones stand, whatever fails or dies between."""

import fcntl
import os
import random
import shutil
import signal
import subprocess
import time

from cli_support import (BAD_DATA, GOOD, IO, Skip, ashuf, expect, get, main, program, put, small,
                         write_small)

RUNS = int(os.environ.get("ASHUF_KILL_RUNS", "60"))
OLD = ("--partitions", "3", "--hash", "id", "--checksum", "adler32")
NEW = ("--partitions", "2", "--hash", "name", "--codec", "zstd", "--checksum", "crc32c")
INPUTS = ["small.arrows"] * 3


def snapshot(path="out"):
    """What a reader of the directory sees: the bytes of each file; a folder as None."""
    names = [name for name in os.listdir(path) if not name.startswith(".")]
    whole = {name: os.path.join(path, name) for name in names}
    return {name: None if os.path.isdir(file) else get(file) for name, file in whole.items()}


def hidden(path="out"):
    return [name for name in os.listdir(path) if name.startswith(".")]


def write(*options, inputs=None, **more):
    return ashuf("write", *(inputs or INPUTS), "-o", "out", *options, **more)


def old_and_new():
    """An older output of three maps in out, and what it and its successor look like."""
    put("small.arrows", small())
    expect(write(*NEW), GOOD, err="")
    new = snapshot()
    shutil.rmtree("out")
    expect(write(*OLD), GOOD, err="")
    return snapshot(), new


def library():
    """fault_names.c, built here."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fault_names.c")
    compiler = shutil.which(os.environ.get("CC", "cc")) or shutil.which("cc")
    if compiler is None:
        raise Skip("no C compiler")
    subprocess.run([compiler, "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", "fault_names.so", source,
                    "-ldl"], check=True)
    return os.path.abspath("fault_names.so")


def fault(built, at, how, links="some"):
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    return {"LD_PRELOAD": built, "FAULT_AT": str(at), "FAULT_HOW": how, "FAULT_LINKS": links,
            "ASAN_OPTIONS": sanitizer}


def unfinished():
    """Every reader of the directory says so."""
    return all(ashuf(command, "out").status != GOOD for command in ("cat", "info", "verify"))


def test_a_folder_in_the_way_of_the_second_output_costs_nothing():
    put("small.arrows", small())
    two = ["small.arrows"] * 2
    expect(write(*OLD, inputs=two), GOOD, err="")
    for ending in (".data", ".index", ".checksum.ADLER32"):
        name = "out/shuffle_0_1_0" + ending
        kept = get(name)
        os.remove(name)
        os.mkdir(name)
        before = snapshot()
        expect(write(*NEW, inputs=two), IO, out="",
               err=f"ashuf: {name}: cannot replace: Is a directory\n")
        assert snapshot() == before and hidden() == []
        os.rmdir(name)
        put(name, kept)


def test_a_file_of_another_owner_costs_nothing():
    """In a sticky directory the files of others cannot be moved: the last step aside fails."""
    if os.geteuid() != 0:
        raise Skip("not root")
    old, _ = old_and_new()
    os.chmod(".", 0o755)
    os.chmod("out", 0o1777)
    for name in old:
        os.chown(os.path.join("out", name), 0 if "_0_0_0." in name else 65534, 65534)

    def become_nobody():
        os.setgid(65534)
        os.setuid(65534)

    shutil.copy(program(), "ashuf")  # nobody may not look into the folder of the build
    result = expect(write(*NEW, preexec_fn=become_nobody, executable=os.path.abspath("ashuf")),
                    IO, out="")
    assert result.err == ("ashuf: out/shuffle_0_0_0.index: cannot move file aside: Operation not "
                          "permitted\n"), result.err
    assert snapshot() == old and hidden() == []


def test_every_step_that_fails_is_taken_back():
    old, new = old_and_new()
    built = library()
    for links, wanted in (("some", 21), ("none", 24)):  # renames; a link that fails is one more
        failures = 0
        for at in range(1, 40):
            result = write(*NEW, env=fault(built, at, "error", links))
            assert hidden() == [], (links, at)
            if result.status == GOOD:
                assert snapshot() == new, (links, at)
                expect(write(*OLD), GOOD, err="")
                continue
            failures += 1
            expect(result, IO, out="")
            assert result.err.startswith("ashuf: out/shuffle_0_"), (at, result.err)
            assert result.err.count("\n") == 1, (at, result.err)
            assert snapshot() == old, (links, at, sorted(snapshot()))
        assert failures == wanted, (links, failures)


def test_new_outputs_without_older_ones_go_again():
    put("small.arrows", small())
    built = library()
    failures = 0
    for at in range(1, 40):
        if write(*NEW, env=fault(built, at, "error")).status == GOOD:
            shutil.rmtree("out")
            continue
        failures += 1
        assert not os.path.exists("out"), (at, os.listdir("out"))
    assert failures == 21, failures


def test_killed_at_every_step():
    """Old, new, or not finished; and the next write, though it fails, leaves one of the two."""
    old, new = old_and_new()
    built = library()
    put("cut.arrows", small()[:700])
    seen = set()
    for links in ("some", "none"):
        for at in range(1, 60):
            result = write(*NEW, env=fault(built, at, "kill", links))
            if result.status == GOOD:
                break
            assert result.status == -signal.SIGKILL and hidden() != [], (at, result.status)
            state = "old" if snapshot() == old else "new" if snapshot() == new else "neither"
            seen.add(state)
            assert state != "neither" or unfinished(), (links, at, sorted(snapshot()))
            expect(write(*NEW, inputs=["cut.arrows"]), BAD_DATA, out="")
            assert snapshot() == old, (links, at, sorted(snapshot()))
            assert hidden() == [], (links, at)
        expect(write(*OLD), GOOD, err="")
    assert seen == {"old", "neither"}, seen


def test_steps_that_cannot_be_taken_back_are_told():
    """Every later step fails too: the older files are kept and told, and the next run has them."""
    old, new = old_and_new()
    built = library()
    put("cut.arrows", small()[:700])
    for at in range(2, 60):
        result = write(*NEW, env=fault(built, at, "errors"))
        if result.status == GOOD:
            break
        assert result.status == IO
        if hidden():
            (name,) = hidden()
            assert (f"ashuf: out/{name}: note: holds the older files; the next write tries to put "
                    "them back\n") in result.err, result.err
            assert unfinished()
        # A second run that can put nothing back either says so, and leaves it for the third.
        result = write(*NEW, env=fault(built, 1, "errors"))
        assert result.status == IO and result.err != ""
        expect(write(*NEW, inputs=["cut.arrows"]), BAD_DATA, out="")
        assert snapshot() == old and hidden() == [], (at, sorted(snapshot()))
    assert at > 24 and snapshot() == new


def test_killed_at_any_time():
    old, new = old_and_new()
    started = time.monotonic()
    expect(write(*NEW), GOOD, err="")
    usual = time.monotonic() - started
    expect(write(*OLD), GOOD, err="")
    dice = random.Random(42)
    killed = 0
    for run in range(RUNS):
        child = subprocess.Popen([program(), "write", *INPUTS, "-o", "out", *NEW],
                                 stdout=subprocess.DEVNULL)
        time.sleep(dice.uniform(0, usual))
        child.kill()
        killed += child.wait(timeout=20) != GOOD
        state = snapshot()
        assert state in (old, new) or unfinished(), (run, sorted(state))
        expect(write(*OLD), GOOD)
        assert snapshot() == old and hidden() == [], run
    assert killed > 0 or RUNS == 0


def leave_staging():
    """A run that is killed in a read of standard input."""
    child = subprocess.Popen([program(), "write", "-", "-o", "out", "--partitions", "1"],
                             stdin=subprocess.PIPE)
    child.stdin.write(small()[:900])
    child.stdin.flush()
    for _ in range(500):
        if os.path.isdir("out") and hidden() and os.listdir(os.path.join("out", hidden()[0])):
            return child
        time.sleep(0.02)
    raise AssertionError("nothing was staged")


def test_leftovers_of_the_dead_go_and_those_of_the_living_stay():
    child = leave_staging()
    (living,) = hidden()
    write_small("--partitions", "1")
    assert hidden() == [living] and os.listdir(os.path.join("out", living)) != []
    child.kill()
    child.wait(timeout=20)
    child.stdin.close()
    assert hidden() == [living]
    os.mkdir("out/.ashuf-keep")  # not a name that a run gives
    put("out/.ashuf-abcdef", b"a file")
    write_small("--partitions", "1")
    assert sorted(hidden()) == [".ashuf-abcdef", ".ashuf-keep"], hidden()


def test_a_lock_says_who_lives():
    os.makedirs("out/.ashuf-abcdef")
    put("out/.ashuf-abcdef/shuffle_0_0_0.data", b"")
    with_lock = os.open("out/.ashuf-abcdef", os.O_RDONLY)
    fcntl.flock(with_lock, fcntl.LOCK_EX)
    write_small("--partitions", "1")
    assert hidden() == [".ashuf-abcdef"]
    os.close(with_lock)
    write_small("--partitions", "1")
    assert hidden() == []


def test_two_writes_into_one_directory():
    """One of the two is there afterwards, whole."""
    old, new = old_and_new()
    for _ in range(10):
        children = [subprocess.Popen([program(), "write", *INPUTS, "-o", "out", *options],
                                     stdout=subprocess.DEVNULL)
                    for options in (OLD, NEW, OLD, NEW)]
        assert [child.wait(timeout=60) for child in children] == [GOOD] * 4
        assert snapshot() in (old, new) and hidden() == []


def test_names_are_given_by_one_write_at_a_time():
    old, new = old_and_new()
    lock = os.open("out", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    child = subprocess.Popen([program(), "write", *INPUTS, "-o", "out", *NEW],
                             stdout=subprocess.DEVNULL)
    time.sleep(0.5)
    assert child.poll() is None and snapshot() == old
    os.close(lock)
    assert child.wait(timeout=60) == GOOD and snapshot() == new


def test_a_directory_needs_its_indexes():
    put("small.arrows", small())
    expect(write(*OLD), GOOD, err="")
    os.remove("out/shuffle_0_1_0.index")
    told = "ashuf: out/shuffle_0_1_0.data: no index beside it: not a finished output\n"
    expect(ashuf("cat", "out"), BAD_DATA, out="", err=told)
    expect(ashuf("cat", "out", "--limit", "0"), BAD_DATA, out="", err=told)
    expect(ashuf("info", "out"), BAD_DATA, err=told)
    out = expect(ashuf("verify", "out"), BAD_DATA, err=told).out
    rows = [line.split("\t")[:4] for line in out.splitlines()[1:]]
    assert rows == [["out/shuffle_0_0_0.data", "sound", "0", "yes"],
                    ["out/shuffle_0_1_0.data", "unsound", "1", "none"],
                    ["out/shuffle_0_2_0.data", "sound", "0", "yes"]], rows
    # Named itself it is one partition, as a file from elsewhere may be.
    for command in ("cat", "info", "verify"):
        expect(ashuf(command, "out/shuffle_0_1_0.data"), GOOD, err="")


def test_a_hidden_directory_that_does_not_say_what_it_named_stays():
    write_small("--partitions", "1")
    os.mkdir("out/.ashuf-abcdef")
    put("out/.ashuf-abcdef/committing", b"")
    before = snapshot()
    result = expect(write("--partitions", "1", inputs=["small.arrows"]), IO, out="")
    assert result.err == ("ashuf: out: a killed write left a hidden directory that does not say "
                          "which outputs it was naming\n"), result.err
    assert snapshot() == before and hidden() == [".ashuf-abcdef"]


if __name__ == "__main__":
    main()
