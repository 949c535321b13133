"""The file of an index: where it lies by default, who may read it, what to do with a bad one."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Final

from sessionref.discovery.sqlite.checksum import SUM_SUFFIX
from sessionref.errors import TitleIndexError

__all__ = ["LOCK_SUFFIX", "default_path", "make_file", "remove_index", "set_aside"]

LOCK_SUFFIX: Final = ".lock"
"""What is locked by the process that refreshes an index ends so."""

_SIDE_FILES: Final = ("-wal", "-shm", SUM_SUFFIX)  # SQLite's own, and ours

_NETWORK: Final = frozenset(
    {"9p", "afs", "beegfs", "ceph", "cifs", "fuse.sshfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3"}
)


_MOUNTS: Final = Path("/proc/self/mounts")
_ESCAPED: Final = re.compile(rb"\\([0-7]{3})")
"""How this list writes a space, a tab, a line feed and a backslash."""


def default_path(root: str | os.PathLike[str]) -> Path:
    """Return where the index of a session folder lies: in the user's cache folder."""
    from platformdirs import user_cache_path

    place = os.path.realpath(root)
    digest = blake2b(os.fsencode(place), digest_size=8).hexdigest()
    return user_cache_path("sessionref", appauthor=False) / "titles" / f"{digest}.sqlite3"


def make_file(path: Path) -> None:
    """Make an index's file and the folders above it where there are none, for their owner only.

    Raises `TitleIndexError` if the file cannot be written, or where SQLite could not lock it.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _refuse_network(path.parent)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            return
        found = path.stat()
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from error
    if not stat.S_ISREG(found.st_mode):
        raise _unusable(path, "it is not a regular file")
    if not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
        raise _unusable(path, "it, or the folder that it lies in, cannot be written")


def set_aside(path: Path) -> Path:
    """Rename a bad index, and what lies beside it, so that a new one can take its place.

    Returns the new name: the old one with `.damaged-` and the time.
    """
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    aside = path.with_name(f"{path.name}.damaged-{now}")
    for suffix in _SIDE_FILES:
        with suppress(FileNotFoundError):
            Path(f"{path}{suffix}").replace(f"{aside}{suffix}")
    with suppress(FileNotFoundError):
        path.replace(aside)
    return aside


def remove_index(path: Path) -> bool:
    """Delete an index and what lies beside it; return whether there was one."""
    existed = path.exists()
    for suffix in ("", *_SIDE_FILES, LOCK_SUFFIX):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    return existed


def _refuse_network(folder: Path) -> None:
    """Raise for a network file system: SQLite's shared memory and locks do not reach across it."""
    if not _MOUNTS.exists():
        return
    place = os.fsencode(os.path.realpath(folder))
    kind, longest = "", -1
    for line in _MOUNTS.read_bytes().split(b"\n"):
        _, mount, found, *_ = *line.split(b" "), b"", b"", b""
        mount = _ESCAPED.sub(lambda match: bytes([int(match[1], 8)]), mount)
        inside = place == mount or place.startswith(mount.rstrip(b"/") + b"/")
        if inside and len(mount) >= longest:
            kind, longest = found.decode("ascii", "replace"), len(mount)
    if kind in _NETWORK:
        raise _unusable(folder, f"it is on a network file system ({kind})")


def _unusable(path: Path, reason: str) -> TitleIndexError:
    return TitleIndexError(
        path=str(path), reason=reason, advice="name another place for it, or do without an index"
    )
