"""The one thing that pyproject.toml cannot say: which folders are packages, found and mapped."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["sessionref", "sessionref.*"]), "sessionref._migrations"],
    package_dir={"sessionref._migrations": "migrations"},
)
