"""What the tests of the command line share: running it, a small Arrow stream, scratch folders.

A test is a function named test_*; main() runs those of the calling module. The environment gives
ASHUF_BIN, the program, and for some ASHUF_TEST_DATA. Exit status 77: skipped.
"""

import base64
import inspect
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
import zlib

GOOD, BAD_DATA, USAGE, IO = 0, 1, 2, 3

# Six rows of: id int64 not null, name utf8, price float64, day date32, at timestamp(us, UTC),
# sum decimal128(10, 2), raw binary, ok bool, tags list<utf8>.
_SMALL = """
eNrFUz1oFFEQnt3b3TuPLRY94iFbHIeNEtDOwIEGDIqIkELBQtDN3aKH9xPvNsRAIBZXpLBIIYoSMI0QMYVlBIuDA7nC
QkRSWYiEkM4UCoLoc957s5e94WLrLLPz5s03M29m3hNCiAkTwANJWXDBARsyuEIyLNQBtQz+LfoDHEL+ZAA8Qp5GPo68
jXsbyB3kG4Rb/SMEBnFzuPZpD6GQo3UU3G7LNCuI62usLc+RJzuQrEZhXa43EbOncY6XiCMJS4DmXYDPaM8JhbE4JoXc
CuYBZM0ak/YSZ4sx7bk61uqqijOqKzp+TftkuY+0BREoH4d85K5F8a5dPQ/r2jcz6kyVYAG2lB3gg8aleA4bebZVLYcq
g4OfzuFhNKmn1aQ8mqPuo8/62AjqoV5bSte+wHzBHFVftaLryyBa1wfGJKhWijumrkmSC2N0g1wVFVKWmmfeJAB2M0+9
lX19aOi758A+HYWD6TSTBskJkj7J6yRPklxm+BUWp8vsfZJ5kl+YfZf5541he4EWt0h/wOzLxvB510lPk/6a4TeZ3mV6
n8XbZfY9ZvfM4XxA99xh/XZY3f9bNxJ3Mn4/wN7JPq4ApxK12MRHqA9+4n7M1oJqo9ys14PxQvHeXDMKi9F8M1urNsL2
xVbvbe95WNh58mJndUPj47jPnkp6c05rP5eo20vx2OPc09++bm0fuzxVSpznwhUt3zk/5DMSa91xKLH+C6JYnzy7ttg5
7Az6IG6237tTndSZA97LLzFMH83Hl/7xvKDCdMP//up3wp+fzyS2aVaD+ySCmXK2OKjnBMnSCF+T5mcn5p3EGSxPOpEn
mLlfXOi9hLhHfwHAzr/F
"""

SMALL_CSV = (
    "id,name,price,day,at,sum,raw,ok,tags\n"
    '1,plain,0.1,1970-01-01,1970-01-01T00:00:00.000000Z,0.00,"",true,"[""a"",""b""]"\n'
    '2,"",NaN,2024-02-29,1969-12-31T23:59:59.999999Z,-0.05,00ff,false,[]\n'
    '3,"comma, ""quote""",Infinity,,,12345678.90,,,\n'
    '4,"two\nlines",-0.0,0001-01-01,2024-02-29T12:34:56.123456Z,,616263,true,'
    '"[null,""x\\""y""]"\n'
    '5,,,1969-12-31,1970-01-01T00:00:00.000001Z,1.00,0a,false,"[""é""]"\n'
    "9007199254740993,Grüße 日本,1e+21,9999-12-31,9999-12-31T23:59:59.999999Z,-99999999.99,22,"
    'true,"[""""]"\n'
)


class Skip(Exception):
    """Raised by a test that cannot run here."""


def small():
    """The bytes of the small Arrow stream."""
    return zlib.decompress(base64.b64decode(_SMALL))


def program():
    path = os.environ.get("ASHUF_BIN")
    if not path:
        print("ASHUF_BIN is not set: skipped")
        sys.exit(77)
    return path


def data(*parts):
    """A file of the test data."""
    root = os.environ.get("ASHUF_TEST_DATA")
    if not root:
        raise Skip("ASHUF_TEST_DATA is not set")
    for base in (root, os.path.join(root, "data")):
        path = os.path.join(base, *parts)
        if os.path.exists(path):
            return path
    raise Skip("no " + os.path.join(*parts) + " in ASHUF_TEST_DATA")


class Result:
    def __init__(self, done):
        self.status = done.returncode
        self.bytes = done.stdout if done.stdout is not None else b""
        self.out = self.bytes.decode("utf-8", "backslashreplace")
        self.err = (done.stderr or b"").decode("utf-8", "backslashreplace")


def ashuf(*arguments, stdin=b"", stdout=subprocess.PIPE, env=None, **more):
    """Runs the program; paths are relative to the scratch folder, which is the current one."""
    return Result(
        subprocess.run(
            [program(), *map(str, arguments)],
            input=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})},
            timeout=120,
            check=False,
            **more,
        )
    )


def expect(result, status, out=None, err=None):
    """The exit status, and where given exactly what was printed."""
    told = f"\nstdout: {result.out!r}\nstderr: {result.err!r}"
    assert result.status == status, f"exit status {result.status}, wanted {status}{told}"
    if out is not None:
        assert result.out == out, f"wanted stdout {out!r}{told}"
    if err is not None:
        assert result.err == err, f"wanted stderr {err!r}{told}"
    return result


def put(name, content):
    with open(name, "wb") as file:
        file.write(content)


def get(name):
    with open(name, "rb") as file:
        return file.read()


def write_small(*options, directory="out"):
    """small.arrows, and what the program makes of it."""
    put("small.arrows", small())
    return expect(
        ashuf("write", "small.arrows", "-o", directory, *options), GOOD, err=""
    )


def _run(name, function):
    folder = tempfile.mkdtemp(prefix="ashuf-cli-")
    os.chdir(folder)
    try:
        function()
        print("ok      ", name)
        return "ok"
    except Skip as why:
        print("skipped ", name, "-", why)
        return "skipped"
    except Exception:  # pylint: disable=broad-except
        print("FAILED  ", name)
        traceback.print_exc(file=sys.stdout)
        return "failed"
    finally:
        os.chdir("/")
        shutil.rmtree(folder, ignore_errors=True)


def main():
    module = inspect.getmodule(inspect.stack()[1][0])
    program()
    tests = [(n, f) for n, f in vars(module).items() if n.startswith("test_") and callable(f)]
    results = [_run(name, function) for name, function in tests]
    if "failed" in results:
        sys.exit(1)
    sys.exit(0 if "ok" in results else 77)
