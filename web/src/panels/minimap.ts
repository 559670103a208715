// A map of the whole graph in the corner of its picture, while the picture shows only a part of it. A click or a drag moves the picture.
import { h } from "../dom";
import type { Scene } from "../scene/scene";
import { withAlpha, type Theme } from "../states_palette";

const WIDTH = 150;
const MOST_HEIGHT = 100;
const PAD = 5;

export class Minimap {
  readonly element = h("canvas", { class: "minimap", hidden: true, "data-testid": "minimap", "aria-hidden": "true" });
  private readonly dots = document.createElement("canvas");
  private scene: Scene | null = null;
  private drawn = "";
  private picture: unknown = null;

  constructor(private theme: Theme, private readonly moved: () => void) {
    this.element.addEventListener("pointerdown", (event) => {
      this.element.setPointerCapture(event.pointerId);
      this.go(event);
    });
    this.element.addEventListener("pointermove", (event) => {
      if (event.buttons) this.go(event);
    });
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.picture = null;
  }

  /** Called for each frame; draws only when the view has changed. */
  frame(scene: Scene | null): void {
    const map = scene?.map() ?? null;
    const inside = !map || (map.visible.left <= map.all.left && map.visible.right >= map.all.right && map.visible.top <= map.all.top && map.visible.bottom >= map.all.bottom);
    if (this.element.hidden !== inside) this.element.hidden = inside;
    if (inside || !map) return;
    this.scene = scene;
    const { all, visible } = map;
    const wide = Math.max(1e-6, (all.right - all.left) * map.stretchX);
    const high = Math.max(1e-6, (all.bottom - all.top) * map.stretchY);
    const scale = Math.min((WIDTH - 2 * PAD) / wide, (MOST_HEIGHT - 2 * PAD) / high);
    const [x0, y0] = [scale * map.stretchX, scale * map.stretchY];
    const height = Math.round(Math.max(18, high * scale + 2 * PAD));
    const key = [visible.left, visible.top, visible.right, visible.bottom, height, this.theme.dark].join();
    if (this.picture !== map.layout) this.drawDots(map.layout, all, x0, y0, height);
    else if (key === this.drawn) return;
    this.picture = map.layout;
    this.drawn = key;
    const c = this.element.getContext("2d");
    if (!c) return;
    if (this.element.height !== height) [this.element.width, this.element.height] = [WIDTH, height];
    c.clearRect(0, 0, WIDTH, height);
    c.drawImage(this.dots, 0, 0);
    c.fillStyle = withAlpha(this.theme.accent, 0.18);
    c.strokeStyle = this.theme.accent;
    const box: [number, number, number, number] = [PAD + (visible.left - all.left) * x0, PAD + (visible.top - all.top) * y0, (visible.right - visible.left) * x0, (visible.bottom - visible.top) * y0];
    c.fillRect(...box);
    c.strokeRect(...box);
  }

  private drawDots(layout: { x: Float32Array; y: Float32Array; lane: Uint8Array }, all: { left: number; top: number }, sx: number, sy: number, height: number): void {
    [this.dots.width, this.dots.height] = [WIDTH, height];
    const c = this.dots.getContext("2d");
    if (!c) return;
    const colours = [withAlpha(this.theme.states[2], 0.75), withAlpha(this.theme.states[6], 0.75)];
    for (const lane of [0, 1]) {
      c.fillStyle = colours[lane];
      for (let v = 0; v < layout.x.length; v++) if ((layout.lane[v] ? 1 : 0) === lane) c.fillRect(PAD + (layout.x[v] - all.left) * sx - 0.6, PAD + (layout.y[v] - all.top) * sy - 0.6, 1.3, 1.3);
    }
  }

  private go(event: PointerEvent): void {
    const map = this.scene?.map();
    if (!map) return;
    const box = this.element.getBoundingClientRect();
    const { all } = map;
    const share = (at: number, from: number, size: number): number => (at - from - PAD) / Math.max(1, size - 2 * PAD);
    this.scene?.lookAt(all.left + share(event.clientX, box.left, box.width) * (all.right - all.left), all.top + share(event.clientY, box.top, box.height) * (all.bottom - all.top));
    this.moved();
  }
}
