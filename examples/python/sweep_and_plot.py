"""What does memory cost in work? Sweep the cap of a U-Net training step, and plot the trade.

python examples/python/sweep_and_plot.py          writes sweep.svg, and sweep.png where matplotlib is installed
"""

from pathlib import Path

import pebble_bridge as pb

graph = pb.generate("unet")
sweep = pb.sweep(graph, "100%..40%", points=7, strategies=["auto", "dtr"], ticks=50_000, progress=True)

for cell in sweep.front:
    print(f"{cell.cap_share:6.1%} of the memory: {cell.metrics.overhead:7.2%} more work, {cell.chosen}, {cell.outcome}")
if sweep.knee:
    print(f"the knee is at {sweep.knee.cap_share:.1%}")

Path("sweep.svg").write_text(sweep.to_svg())
try:
    ax = sweep.plot()
except pb.MissingMatplotlib as missing:
    print(missing)
else:
    ax.figure.savefig("sweep.png", dpi=120)
