"""How Sphinx builds the documentation: `tox -e docs`."""

from __future__ import annotations

import re
from importlib.metadata import version as installed_version
from types import SimpleNamespace
from typing import get_type_hints

from pydantic import BaseModel
from sphinx.application import Sphinx

import sessionref.model

project = "sessionref"
copyright = "2026, sessionref contributors"
author = "sessionref contributors"
release = installed_version("sessionref")

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"sessionref {release}"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["pages.css"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_default_options = {
    "members": True,
    "undoc-members": True,
    # What comes from these is documented where they are.
    "inherited-members": "BaseModel, BaseException, str, tuple",
    "exclude-members": "model_config",
}
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"

CODE = re.compile("(?<!`)`([^`]+)`(?!`)")

# Names from elsewhere have no page here; those of the library itself must resolve.
nitpick_ignore_regex = [("py:.*", r"(?!sessionref\.).*")]


def sign_with_field_names(
    _app: Sphinx, what: str, _name: str, documented: object, *_: object
) -> tuple[str, None] | None:
    """Sign a value's class with the Python names of its fields; pydantic gives the JSON's."""
    if what != "class" or not (isinstance(documented, type) and issubclass(documented, BaseModel)):
        return None
    fields = (
        name if field.is_required() else f"{name}={field.get_default()!r}"
        for name, field in documented.model_fields.items()
    )
    return f"(*, {', '.join(fields)})", None


def prepare_docstring(
    _app: Sphinx, what: str, _name: str, _documented: object, _options: object, lines: list[str]
) -> None:
    """Read single backticks as code, backslashes and all; leave out a module's map of its code."""
    if what == "module":
        del lines[lines.index("") :]
    lines[:] = CODE.sub(r"``\1``", "\n".join(lines)).split("\n")


def show_plain_types() -> None:
    """Give the members of values the types that Python code sees, without pydantic's checks."""
    for value in (*vars(sessionref.model).values(), sessionref.ResolverConfig):
        if isinstance(value, type) and issubclass(value, BaseModel):
            checked = {name: field.annotation for name, field in value.model_fields.items()}
            value.__annotations__ |= get_type_hints(SimpleNamespace(__annotations__=checked))


def setup(app: Sphinx) -> None:
    """Take part in the build."""
    show_plain_types()
    app.connect("autodoc-process-signature", sign_with_field_names)
    app.connect("autodoc-process-docstring", prepare_docstring)
