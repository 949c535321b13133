"""What is wrong with single logs: told once, and again when it changes."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from sessionref.discovery import Diagnostic
from sessionref.discovery.diagnostics import Reporter
from sessionref.errors import SessionDamagedError


def fault(reason: str = "broken", place: str = "/a", session_id: str | None = "s") -> Diagnostic:
    return Diagnostic(place, session_id, SessionDamagedError(reason=reason, path=place))


def test_a_fault_is_told_once() -> None:
    """The same fault of the same log is not told at every keystroke."""
    told: list[Diagnostic] = []
    reporter = Reporter(told.append)
    first = fault()
    for diagnostic in [first, fault(), fault()]:
        reporter.report(diagnostic)
    assert told == [first]


def test_a_fault_that_changes_is_told_again() -> None:
    """Another reason is news, also when it is one that was told before the last."""
    told: list[Diagnostic] = []
    reporter = Reporter(told.append)
    for reason in ["broken", "torn", "torn", "broken"]:
        reporter.report(fault(reason))
    assert [str(diagnostic.error) for diagnostic in told] == [
        str(fault(reason).error) for reason in ["broken", "torn", "broken"]
    ]


def test_a_fault_that_comes_back_is_told_again() -> None:
    """A log that was readable meanwhile has a new fault, even if it is the old one."""
    told: list[Diagnostic] = []
    reporter = Reporter(told.append)
    reporter.clear("/a", "s")
    reporter.report(fault())
    reporter.clear("/a", "s")
    reporter.report(fault())
    assert len(told) == 2


def test_each_log_has_its_own_faults() -> None:
    """Logs in other places, or of other sessions in one place, are told of by themselves."""
    told: list[Diagnostic] = []
    reporter = Reporter(told.append)
    for diagnostic in [fault(), fault(place="/b"), fault(session_id="t"), fault(session_id=None)]:
        reporter.report(diagnostic)
    reporter.clear("/b", "s")
    reporter.report(fault())
    assert len(told) == 4


def test_a_fault_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Without a callback a fault is still logged as a warning, on one line without controls."""
    with caplog.at_level("WARNING", logger="sessionref"):
        Reporter().report(fault("odd\x1b[2J\nname %s"))
    (record,) = caplog.records
    assert (record.levelname, record.name) == ("WARNING", "sessionref")
    assert record.getMessage() == (
        "/a: damaged: odd\\x1b[2J\\x0aname %s [SESSION_REFERENCE_READ_FAILED]"
    )


def test_nothing_is_printed_where_no_logging_is_set_up() -> None:
    """A host that has set up no logging keeps its terminal to itself."""
    program = textwrap.dedent("""\
        from sessionref.discovery import Diagnostic
        from sessionref.discovery.diagnostics import Reporter
        from sessionref.errors import SessionNotFoundError
        error = SessionNotFoundError(session_id="gone")
        Reporter().report(Diagnostic("somewhere", "gone", error))
    """)
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert (ran.stdout, ran.stderr) == (b"", b"")


def test_a_callback_that_raises_disturbs_no_lookup(caplog: pytest.LogCaptureFixture) -> None:
    """What a host's callback raises is logged, and the next fault is told all the same."""
    told: list[Diagnostic] = []

    def fail(diagnostic: Diagnostic) -> None:
        told.append(diagnostic)
        raise ValueError("the host's own mistake")

    reporter = Reporter(fail)
    reporter.report(fault(place="/a"))
    reporter.report(fault(place="/b"))
    assert [diagnostic.place for diagnostic in told] == ["/a", "/b"]
    assert "the host's own mistake" in caplog.text


def test_a_fault_with_any_name_can_be_logged(caplog: pytest.LogCaptureFixture) -> None:
    """A path that is no UTF-8 is told in characters that every log file takes."""
    Reporter().report(fault(place="/\udcff"))
    assert "/\\udcff" in caplog.text
