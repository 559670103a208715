"""python -m pebble_bridge: the version, and where the library is."""

from . import version

if __name__ == "__main__":
    print(version())
