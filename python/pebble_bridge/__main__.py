"""python -m pebble_bridge: prints the version and the path of the library."""

from . import version

if __name__ == "__main__":
    print(version())
