"""Builds libpebble with CMake and puts it into the wheel; pyproject.toml has all the rest.

The C sources are those of the tree that contains this folder, or in a source distribution those in libpebble/ next to
this file. Environment variables:

PEBBLE_CMAKE_ARGS   more arguments for CMake, as in "-DPB_CBC=ON"
PEBBLE_PREBUILT     a libpebble.so to take as it is

The library is linked so that it needs libc alone: without Cbc (its strategies then give up; `auto` does not use them)
and oneDNN (which only `pebble run` uses), with CaDiCaL if its archive is installed.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
TREE = HERE.parent
IN_TREE = (TREE / "CMakeLists.txt").is_file() and (TREE / "include/pebble/bindings.h").is_file()
SOURCES = TREE if IN_TREE else HERE / "libpebble"
PARTS = ("CMakeLists.txt", "LICENSE", "cmake", "include", "src")


def version() -> str:
    """The version, from the public header, its only source."""
    header = (SOURCES / "include/pebble/base.h").read_text()
    return re.search(r'#define PB_VERSION "([^"]+)"', header).group(1)


def build_library(folder: Path) -> Path:
    """Compile libpebble in `folder`; what is there already is used again."""
    folder.mkdir(parents=True, exist_ok=True)
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DPB_PORTABLE=ON", "-DPB_TESTS=OFF", "-DPB_SERVER=OFF", "-DPB_PAGE=OFF"]
    options += ["-DPB_WERROR=OFF", "-DPB_CBC=OFF", "-DPB_DNNL=OFF", *os.environ.get("PEBBLE_CMAKE_ARGS", "").split()]
    if shutil.which("ninja"):
        options += ["-G", "Ninja"]
    subprocess.run(["cmake", "-S", SOURCES, "-B", folder, "--log-level=WARNING", *options], check=True)
    jobs = str(os.cpu_count() or 1)
    subprocess.run(["cmake", "--build", folder, "--target", "pebble_shared", "--parallel", jobs], check=True)
    return (folder / "libpebble.so").resolve()


class BuildWithLibrary(build_py):
    """The modules and, but for editable installs (they find build/libpebble.so of the tree), the library."""

    def run(self):
        super().run()
        if self.editable_mode or self.dry_run:
            return
        prebuilt = os.environ.get("PEBBLE_PREBUILT")
        temporary = Path(self.get_finalized_command("build").build_temp) / "libpebble"
        library = Path(prebuilt) if prebuilt else build_library(TREE / "build" / "wheel" if IN_TREE else temporary)
        target = Path(self.build_lib) / "pebble_bridge" / "libpebble.so"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(library, target)
        target.chmod(0o755)
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-unneeded", target], check=True)

    def get_outputs(self, *args, **kwargs):
        return [*super().get_outputs(*args, **kwargs), str(Path(self.build_lib) / "pebble_bridge" / "libpebble.so")]


class AnyPython(bdist_wheel):
    """One wheel for every Python of a platform: ctypes needs no ABI."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithSources(sdist):
    """A source distribution has the C sources next to the package."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        for part in PARTS:
            target = Path(base_dir) / "libpebble" / part
            if (SOURCES / part).is_dir():
                shutil.copytree(SOURCES / part, target, dirs_exist_ok=True)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(SOURCES / part, target)


class BinaryDistribution(Distribution):
    """Contains compiled code, so it is installed in the platform-specific directory."""

    def has_ext_modules(self):
        return True


setup(
    version=version(),
    distclass=BinaryDistribution,
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": AnyPython, "sdist": WithSources},
)
