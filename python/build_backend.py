"""The build backend: setuptools, and cmake and ninja from the package index only if they are not installed."""

import shutil

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403


def get_requires_for_build_wheel(config_settings=None):
    """What a wheel needs beyond setuptools."""
    missing = [name for name, command in (("cmake>=3.25", "cmake"), ("ninja", "ninja")) if not shutil.which(command)]
    return build_meta.get_requires_for_build_wheel(config_settings) + missing
