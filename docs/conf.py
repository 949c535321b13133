"""How Sphinx builds the documentation: `tox -e docs`."""

from __future__ import annotations

from importlib.metadata import version as installed_version

from docutils.nodes import Element, reference
from pydantic import BaseModel
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

project = "sessionref"
copyright = "2026, sessionref contributors"
author = "sessionref contributors"
release = installed_version("sessionref")

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"sessionref {release}"
html_copy_source = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

# Docstrings put code in single backticks.
default_role = "code"
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

PUBLIC_PACKAGES = (
    "sessionref",
    "sessionref.storage",
    "sessionref.discovery",
    "sessionref.snapshot.retention",
    "sessionref.testing",
)

# Names from elsewhere have no page here; those of the library itself must resolve.
nitpick_ignore_regex = [("py:.*", r"(?!sessionref\.).*")]


def resolve_public_name(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: Element
) -> reference | None:
    """Link a name, given where it is defined, to where it is public and documented."""
    module, _, name = node["reftarget"].rpartition(".")
    if node["refdomain"] != "py" or not module.startswith("sessionref"):
        return None
    for package in PUBLIC_PACKAGES:
        target = env.domains.python_domain.objects.get(f"{package}.{name}")
        if target is not None:
            return make_refnode(
                app.builder, node["refdoc"], target.docname, target.node_id, [contnode], name
            )
    return None


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


def setup(app: Sphinx) -> None:
    """Take part in the build."""
    app.connect("autodoc-process-signature", sign_with_field_names)
    app.connect("missing-reference", resolve_public_name)
