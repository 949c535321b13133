"""The steps that bring a title index to the schema of this version, oldest first.

`sqlite-utils migrate INDEX migrations.py` executes this file by itself, outside of any package:
it must import nothing of the project.  A step that was released is never edited or renamed, since
an index remembers by name which steps it has had; a later step corrects it.
"""

from sqlite_utils import Database, Migrations

steps = Migrations("sessionref")


@steps()
def s001_name_the_application(db: Database) -> None:
    """Say in the file itself whose it is and that it may be deleted.

    A database without this table is somebody else's, and the index keeps its hands off it.
    """
    about = db.table("sessionref_index")
    about.create({"key": str, "value": str}, pk="key", not_null={"key", "value"}, strict=True)
    about.insert_all(
        [
            {"key": "application", "value": "sessionref"},
            {
                "key": "purpose",
                "value": "A cache of session titles. It can be deleted: a lookup rebuilds it.",
            },
        ]
    )


_TABLES = """
CREATE TABLE cwd (
    key INTEGER PRIMARY KEY,
    path BLOB NOT NULL UNIQUE,
    path_lower BLOB,
    sessions INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE name (key INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE) STRICT;
CREATE TABLE session (
    rank INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    id_lower BLOB,
    title BLOB,
    title_lower BLOB,
    cwd INTEGER REFERENCES cwd,
    created_at INTEGER NOT NULL,
    updated_at INTEGER,
    parent_session BLOB,
    is_subagent INTEGER NOT NULL,
    problem BLOB,
    version INTEGER NOT NULL,
    delegation_depth INTEGER NOT NULL,
    seed_length INTEGER,
    is_seeded INTEGER,
    agent_preset BLOB,
    project INTEGER NOT NULL REFERENCES name,
    folder BLOB,
    file INTEGER NOT NULL REFERENCES name,
    revision BLOB,
    checkpoint BLOB
) STRICT;
CREATE INDEX session_cwd ON session (cwd) WHERE cwd IS NOT NULL;
CREATE INDEX session_project ON session (project);
CREATE TABLE fault (
    place BLOB PRIMARY KEY,
    session_id BLOB,
    problem BLOB NOT NULL,
    revision BLOB
) STRICT, WITHOUT ROWID;
CREATE TABLE frequency (
    grams TEXT NOT NULL,
    gram TEXT NOT NULL,
    rows INTEGER NOT NULL,
    PRIMARY KEY (grams, gram)
) STRICT, WITHOUT ROWID
"""


@steps()
def s002_hold_sessions(db: Database) -> None:
    """Make the tables that sessions lie in.

    Texts are blobs of UTF-8, for they may hold lone surrogates and NUL; beside each is its lower
    case, NULL where that is the same.  `session.rank` sorts sessions as answers do.  `name` holds
    the names of folders and files.  A `fault` is something listed that is no session: its place,
    its session's id as far as known, and why it cannot be read.  `frequency` says in about how many
    rows of a table of grams a frequent gram is, and the empty gram in how many rows there are.
    """
    for statement in _TABLES.split(";"):
        db.execute(statement)


@steps()
def s003_look_up_grams(db: Database) -> None:
    """Make the tables that grams are looked up in, numbered as the rows of `session` and `cwd`.

    A SQLite that has no FTS5 refuses with "no such module: fts5".
    """
    for table in ("session_gram", "cwd_gram"):
        db.execute(
            f"CREATE VIRTUAL TABLE {table} USING fts5"
            "(grams, content='', columnsize=0, detail=none, tokenize='ascii')"
        )
        # What one transaction adds, up to so many bytes, is written in one go.
        size = f"INSERT INTO {table} ({table}, rank) VALUES ('hashsize', ?)"  # noqa: S608
        db.execute(size, [2**24])
