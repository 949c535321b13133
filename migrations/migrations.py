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
