"""The benchmarks run and report what they measured; how fast anything is, no test asks."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sessionref.session.reading import read_log
from sessionref.snapshot.projection import project

_CHECKOUT = Path(__file__).parents[1]


@pytest.fixture(scope="module", autouse=True)
def benchmarks_on_the_path() -> Iterator[None]:
    # Behind everything else: the checkout must not come before the wheel.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path, str(_CHECKOUT)])
        yield


def report_of(folder: Path, *arguments: str) -> Any:
    from benchmarks.__main__ import main

    file = folder / "report.json"
    result = CliRunner().invoke(main, [*arguments, "--rounds", "1", "--json", str(file)])
    assert result.exit_code == 0, result.output
    assert "sessionref" in result.stdout
    return json.loads(file.read_text(encoding="utf-8"))


def row_of(size: int, seconds: float) -> Any:
    from benchmarks.fresh import Timing
    from benchmarks.report import Row

    timing = Timing(best=seconds, median=seconds)
    return Row("series", size, timing, floor=timing)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return report_of(tmp_path_factory.mktemp("prepare"), "prepare", "--messages", "6")


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return report_of(tmp_path_factory.mktemp("scan"), "scan", "--logs", "4")


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return report_of(tmp_path_factory.mktemp("imports"), "imports")


@pytest.fixture(scope="module")
def discovered(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from benchmarks.__main__ import main

    file = tmp_path_factory.mktemp("discovery") / "report.json"
    arguments = ["discovery", "--sessions", "60,600", "--needles", "3", "--json", str(file)]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return json.loads(file.read_text(encoding="utf-8"))


def test_preparing_is_measured_for_both_budgets(prepared: Any) -> None:
    """A preparation is measured with the usual budget and with one that keeps everything."""
    rows = [(row["series"], row["size"]) for row in prepared["rows"]]
    budgets = [(f"budget {budget}", 6) for budget in ("64 KiB", "1 GiB")]
    assert sorted(rows) == sorted((f"{v}, {name}", n) for v in ("v0", "v4") for name, n in budgets)


def test_lookups_are_measured_for_both_encodings(scanned: Any) -> None:
    """A lookup is measured over raw and over compressed logs, with and without a query."""
    rows = [(row["series"], row["size"]) for row in scanned["rows"]]
    names = ("raw", "raw, empty query", "zstd", "zstd, empty query")
    assert rows == [(f"{version} {name}", 4) for version in ("v0", "v4") for name in names]


def test_importing_is_measured(imported: Any) -> None:
    """Importing the library and importing what it stands on both take some time."""
    [row] = imported["rows"]
    assert row["ours"]["best"] > 0
    assert row["floor"]["best"] > 0


@pytest.mark.parametrize("name", ["prepared", "scanned", "imported"])
def test_each_ratio_is_that_of_the_best_times(name: str, request: pytest.FixtureRequest) -> None:
    """Where there is a floor, the ratio to it is reported with its target."""
    for row in request.getfixturevalue(name)["rows"]:
        ratios = [check for check in row["checks"] if check["name"] == "ratio"]
        assert len(ratios) == (row["floor"] is not None)
        for ratio in ratios:
            assert ratio["value"] == row["ours"]["best"] / row["floor"]["best"]
            assert ratio["is_met"] == (ratio["value"] <= ratio["target"])


@pytest.mark.parametrize("name", ["prepared", "scanned", "imported"])
def test_a_report_tells_what_it_was_measured_with(
    name: str, request: pytest.FixtureRequest
) -> None:
    """A report holds the versions of Python and of the libraries that decide about speed."""
    environment = request.getfixturevalue(name)["environment"]
    assert environment.keys() == {
        *("python", "platform", "processors"),
        *("sessionref", "orjson", "pydantic", "trio", "zstandard"),
    }


def test_growth_is_counted_per_doubling() -> None:
    """Eight times the time for four times the size is 2.83 times the time per doubling."""
    from benchmarks.report import with_growth

    _, row = with_growth([row_of(100, 1.0), row_of(400, 8.0)], target=2.2)
    [check] = row.checks
    assert check.value == pytest.approx(8**0.5)
    assert not check.is_met


def test_a_series_that_only_starts_has_not_grown() -> None:
    """The smallest size of a series is not checked for growth."""
    from benchmarks.report import with_growth

    [row] = with_growth([row_of(100, 1.0)], target=2.2)
    assert row.checks == ()


def test_each_measurement_has_a_process_of_its_own() -> None:
    """A measurement starts in a process that has measured nothing."""
    from benchmarks.fresh import take_turns

    first, second = take_turns(1, os.getpid, os.getpid)
    assert len({first.best, second.best, os.getpid()}) == 3


def test_a_picture_shows_each_series(tmp_path: Path) -> None:
    """The picture is an SVG whose text names the sizes, the unit and both lines of a series."""
    pytest.importorskip("matplotlib", reason="comes with the group `bench`")
    from benchmarks.report import Report, draw

    file = tmp_path / "picture.svg"
    draw(Report("prepare", "messages", "alone", 1, (row_of(1_000, 1.0),)), file)
    texts = re.findall(">([^<>]+)</text>", file.read_text(encoding="utf-8"))
    assert {"1,000", "messages", "sessionref, series", "alone, series"} <= set(texts)


def test_the_corpus_is_the_same_each_time(tmp_path: Path) -> None:
    """The same seed gives the same bytes."""
    from benchmarks.corpus import write_session

    one = write_session(tmp_path / "one", "id", 3, 20)
    other = write_session(tmp_path / "other", "id", 3, 20)
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("name", ["prepared", "scanned"])
def test_a_newer_version_is_compared_with_the_oldest(
    name: str, request: pytest.FixtureRequest
) -> None:
    """What a byte of a log of version 4 costs is reported beside one of version 0."""
    for row in request.getfixturevalue(name)["rows"]:
        names = {check["name"] for check in row["checks"]}
        is_newer = row["series"].startswith("v4") and row["floor"] is not None
        assert ("per byte, to version 0" in names) == is_newer


@pytest.mark.parametrize("version", [0, 4])
@pytest.mark.parametrize("messages", [2, 3, 7, 40])
def test_a_session_has_the_messages_that_were_asked_for(
    messages: int, version: int, tmp_path: Path
) -> None:
    """The log of a generated session is sound, has a title, and holds so many messages."""
    from benchmarks.corpus import write_session

    path = write_session(tmp_path, "id", 1, messages, version=version)
    log = read_log(path.read_bytes().split(b"\n")[:-1])
    assert log.title is not None
    assert len(project(log)) == messages


def test_the_index_is_measured_beside_its_rivals(discovered: Any) -> None:
    """Each class of needles has the times of the index and of three other ways, at each size."""
    rows = [row for row in discovered["rows"] if row["series"] != "building"]
    assert {row["size"] for row in rows} == {60, 600}
    for row in rows:
        assert 0 < row["ours"]["median"] <= row["p99"]
        assert row["rivals"].keys() == {"one pass in memory", "FTS5 by hand", "instr"}
        assert min(row["rivals"].values()) > 0


def test_the_index_has_to_stay_small(discovered: Any) -> None:
    """The size of the file and of the process is checked, and what ten times the sessions cost."""
    small, large = (row for row in discovered["rows"] if row["series"] == "building")
    names = ["bytes a session", "MB of memory"]
    assert [check["name"] for check in small["checks"]] == names
    assert [check["name"] for check in large["checks"]] == [*names, "growth of the worst p99"]


def test_sizes_are_numbers() -> None:
    """What is no list of numbers is refused in words."""
    from benchmarks.__main__ import main

    result = CliRunner().invoke(main, ["discovery", "--sessions", "60,many"])
    assert result.exit_code == 2
    assert "with commas between" in result.output


def test_needles_are_of_their_class() -> None:
    """Each class has as many needles as asked, the same each time, and of the length it names."""
    from benchmarks.titles import draw_needles, titled_sessions

    sessions = list(titled_sessions(300))
    needles = draw_needles(sessions, 5)
    assert needles == draw_needles(sessions, 5)
    assert {len(drawn) for drawn in needles.values()} == {5}
    sizes = {"1 character": 1, "2 characters": 2, "3 characters": 3, "Chinese, 4": 4, "empty": 0}
    for name, size in sizes.items():
        assert {len(needle) for needle in needles[name]} == {size}
    text = "\n".join(f"{each.id}\n{each.cwd}\n{each.title}".lower() for each in sessions)
    for name, drawn in needles.items():
        assert all((needle in text) != name.startswith("absent") for needle in drawn), name


def test_a_smaller_corpus_of_titles_begins_a_larger_one() -> None:
    """The first sessions are the same, however many follow."""
    from benchmarks.titles import titled_sessions

    assert list(titled_sessions(20)) == list(titled_sessions(40))[:20]


def test_a_picture_shows_each_class_of_needles(tmp_path: Path) -> None:
    """The picture of lookups names the classes and the rivals."""
    pytest.importorskip("matplotlib", reason="comes with the group `bench`")
    from benchmarks.discovery import Lookups, draw
    from benchmarks.fresh import Timing
    from benchmarks.report import Report

    rivals = {"one pass in memory": 1.0, "FTS5 by hand": 2.0, "instr": 3.0}
    row = Lookups("rare word", 1_000, Timing(0.1, 0.2), p99=0.3, rivals=rivals)
    file = tmp_path / "picture.svg"
    draw(Report("discovery", "sessions", "one pass in memory", 1, (row,)), file)
    texts = re.findall(">([^<>]+)</text>", file.read_text(encoding="utf-8"))
    assert {"rare word", "sessionref, p50 to p99", "instr, p50"} <= set(texts)
