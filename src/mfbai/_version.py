"""The version, for every module that needs it without the rest of the package."""

__version__ = "0.2.0"
