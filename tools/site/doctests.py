"""For mkdocstrings: examples in docstrings (`>>>`) are shown as code."""
import re

import griffe


class Doctests(griffe.Extension):
    def on_instance(self, *, obj, **_):
        if obj.docstring:
            obj.docstring.value = re.sub(r"^ *>>> .*?(?=\n *\n|\Z)", lambda m: f"```pycon\n{m[0]}\n```", obj.docstring.value,
                                         flags=re.M | re.S)
