// The camera: centre, scale, and the stretch that lets long thin graphs use the whole screen.
//
// World units are slots of the layout. `scale` is in CSS pixels for a slot along the axis that is not stretched; circles stay circles,
// only distances grow along the other axis. Movements are eased; `tick` returns whether the view changed.

export interface View {
  x: number;
  y: number;
  scale: number;
}

export interface Extent {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Maximum pixels per slot of a fitted view, along each axis, and without stretching. */
const WIDEST_SLOT = 260;
const HIGHEST_SLOT = 110;
const MAX_FITTED = 64;
const FLIGHT_MS = 420;
const ZOOM_EASE_MS = 55;
const MAX_SCALE = 160;

interface Flight {
  from: View;
  to: View;
  start: number;
}

interface Zoom {
  scale: number;
  px: number;
  py: number;
  last: number;
}

export class Camera {
  view: View = { x: 0, y: 0, scale: 20 };
  stretchX = 1;
  stretchY = 1;
  /** Size of the viewport in CSS pixels. */
  width = 1;
  height = 1;
  minScale = 0.001;
  reducedMotion = false;
  private flight: Flight | null = null;
  private zoom: Zoom | null = null;

  toScreen(x: number, y: number): [number, number] {
    const v = this.view;
    return [
      (x - v.x) * v.scale * this.stretchX + this.width / 2,
      (y - v.y) * v.scale * this.stretchY + this.height / 2,
    ];
  }

  toWorld(px: number, py: number): [number, number] {
    const v = this.view;
    return [
      v.x + (px - this.width / 2) / (v.scale * this.stretchX),
      v.y + (py - this.height / 2) / (v.scale * this.stretchY),
    ];
  }

  /** The visible part of the world, with `margin` pixels around it. */
  visible(margin: number): Extent {
    const [left, top] = this.toWorld(-margin, -margin);
    const [right, bottom] = this.toWorld(this.width + margin, this.height + margin);
    return { left, top, right, bottom };
  }

  /** Chooses the stretch for a world of this extent, and the view that shows all of it. */
  fitted(extent: Extent, padX: number, padY: number): View {
    const w = Math.max(1, extent.right - extent.left);
    const h = Math.max(1, extent.bottom - extent.top);
    const freeX = Math.max(40, this.width - 2 * padX);
    const freeY = Math.max(40, this.height - 2 * padY);
    const ratio = (w * freeY) / (h * freeX);
    const plain = Math.min(freeX / w, freeY / h, MAX_FITTED);
    this.stretchX = ratio < 1 ? Math.max(1, Math.min(1 / ratio, WIDEST_SLOT / plain)) : 1;
    this.stretchY = ratio > 1 ? Math.max(1, Math.min(ratio, HIGHEST_SLOT / plain)) : 1;
    const scale = Math.min(freeX / (w * this.stretchX), freeY / (h * this.stretchY), MAX_FITTED);
    this.minScale = scale / 6;
    return { x: (extent.left + extent.right) / 2, y: (extent.top + extent.bottom) / 2, scale };
  }

  jump(to: View): void {
    this.flight = null;
    this.zoom = null;
    this.view = { ...to };
  }

  fly(to: View, now: number): void {
    if (this.reducedMotion) return this.jump(to);
    this.zoom = null;
    this.flight = { from: { ...this.view }, to, start: now };
  }

  pan(dx: number, dy: number): void {
    this.flight = null;
    this.view.x -= dx / (this.view.scale * this.stretchX);
    this.view.y -= dy / (this.view.scale * this.stretchY);
  }

  /** Zooms by a factor around (px, py); eased unless `now` is absent. */
  zoomAt(factor: number, px: number, py: number, now?: number): void {
    this.flight = null;
    const from = this.zoom ? this.zoom.scale : this.view.scale;
    const scale = Math.min(MAX_SCALE, Math.max(this.minScale, from * factor));
    if (now === undefined || this.reducedMotion) {
      this.zoom = null;
      this.scaleAround(scale, px, py);
    } else {
      this.zoom = { scale, px, py, last: this.zoom ? this.zoom.last : now };
    }
  }

  get moving(): boolean {
    return this.flight !== null || this.zoom !== null;
  }

  /** Continues an eased movement; true if the view changed. */
  tick(now: number): boolean {
    if (this.flight) return this.tickFlight(this.flight, now);
    if (this.zoom) return this.tickZoom(this.zoom, now);
    return false;
  }

  private tickFlight(f: Flight, now: number): boolean {
    const t = Math.min(1, Math.max(0, (now - f.start) / FLIGHT_MS));
    const e = 1 - (1 - t) ** 3;
    this.view = {
      x: f.from.x + (f.to.x - f.from.x) * e,
      y: f.from.y + (f.to.y - f.from.y) * e,
      scale: f.from.scale * (f.to.scale / f.from.scale) ** e,
    };
    if (t >= 1) this.flight = null;
    return true;
  }

  private tickZoom(z: Zoom, now: number): boolean {
    const e = 1 - Math.exp(-Math.max(1, now - z.last) / ZOOM_EASE_MS);
    z.last = now;
    const ratio = z.scale / this.view.scale;
    const done = Math.abs(ratio - 1) < 0.002;
    this.scaleAround(done ? z.scale : this.view.scale * ratio ** e, z.px, z.py);
    if (done) this.zoom = null;
    return true;
  }

  private scaleAround(scale: number, px: number, py: number): void {
    const [wx, wy] = this.toWorld(px, py);
    this.view.scale = scale;
    const [nx, ny] = this.toWorld(px, py);
    this.view.x += wx - nx;
    this.view.y += wy - ny;
  }
}
