import errno
import subprocess
import sys
import warnings

import pytest

import dssc
from dssc.cli.main import COMMANDS, build_parser


# The help of `cluster` shows the defaults of the estimators, and imports them for it.
@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS if name != "cluster")])
def test_the_help_is_instant(command):
    heavy = ["numba", "sklearn", "scipy", "matplotlib"]
    code = (
        f"import sys\nfrom dssc.cli.main import main\ntry:\n    main([*{command}, '--help'])\n"
        f"except SystemExit:\n    pass\nprint([n for n in {heavy} if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("command", [[], ["cluster"], ["project"]])
def test_the_help_says_what_codes_mean(run, command):
    _, out, _ = run(*command, "--help")
    assert "3    done and written, but a solver did not reach its tolerance" in out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert out.startswith(f"usage: dssc {command}")


def test_version(run):
    assert run("--version") == (0, f"dssc {dssc.__version__}\n", "")
    assert build_parser().prog == "dssc"


def test_no_command_is_an_error(run):
    assert run()[0] == 2


@pytest.mark.parametrize(
    ("platform", "error", "code"),
    [
        ("win32", OSError(errno.EINVAL, "Invalid argument"), 0),
        ("linux", OSError(errno.EINVAL, "Invalid argument"), 2),
        ("linux", BrokenPipeError(errno.EPIPE, "Broken pipe"), 0),
    ],
)
def test_a_reader_that_has_gone_is_no_error(run, platform, error, code, monkeypatch):
    def fail(args):
        raise error

    discarded = []
    monkeypatch.setattr("dssc.cli.main.discard_output", lambda: discarded.append(True))
    monkeypatch.setattr("dssc.cli.info.run", fail)
    monkeypatch.setattr(sys, "platform", platform)
    assert run("info")[0] == code
    assert bool(discarded) == (code == 0)


def test_warnings_of_python_are_shown_in_one_line(run, monkeypatch):
    def warn(args):
        warnings.simplefilter("always")
        warnings.warn("two\nlines", UserWarning, stacklevel=1)
        return 0

    monkeypatch.setattr("dssc.cli.info.run", warn)
    show = warnings.showwarning
    assert run("info") == (0, "", "dssc: warning: two lines\n")
    assert warnings.showwarning is show
