# %% [markdown]
# # Plans in a notebook
# Editors that know the `# %%` cells (VS Code, Spyder, Jupytext) run this file as a notebook; as a script it writes what
# a notebook would show to `notebook.html`.

# %%
from pathlib import Path

import pebble_bridge as pb

shown = []


def show(thing):
    """In a notebook the last line of a cell is shown automatically; here it is collected."""
    shown.append(thing._repr_html_())
    return thing


# %% A training step of a transformer, in figures
graph = pb.generate("transformer", blocks=4)
show(graph)

# %% Less memory: what does it cost? Ctrl-C, or the notebook's stop button, keeps the best plan so far.
plan = pb.plan(graph, "70%", time=2, progress=True)
show(plan)

# %% Why is that so?
show(pb.explain(graph, plan))

# %% Strategies side by side
show(pb.compare(graph, "70%", strategies=["chen", "dtr", "sqrt", "demand", "cut"], game="remat"))

# %% All caps at once
show(pb.sweep(graph, "100%..70%", points=5, ticks=20_000))

# %%
Path("notebook.html").write_text("<!doctype html><meta charset=utf-8><body>" + "<hr>".join(shown))
print(f"{len(shown)} results in notebook.html")
