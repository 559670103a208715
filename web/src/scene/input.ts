// Pointers and wheel on the scene: drag pans, wheel and pinch zoom, a click selects, moving hovers.

export interface InputTarget {
  pan(dx: number, dy: number): void;
  /** `eased` for wheels, whose steps are coarse. */
  zoom(factor: number, x: number, y: number, eased: boolean): void;
  click(x: number, y: number): void;
  doubleClick(x: number, y: number): void;
  hover(x: number, y: number): void;
  leave(): void;
}

const CLICK_DISTANCE = 4;

interface Finger {
  x: number;
  y: number;
}

/** Adds event handlers to all `elements` (a canvas and its overlays); returns a function that removes them. */
export function listen(elements: readonly HTMLElement[], origin: HTMLElement, to: InputTarget): () => void {
  const fingers = new Map<number, Finger>();
  let travelled = 0;
  let box: DOMRect | null = null;
  const at = (e: MouseEvent): Finger => {
    box ??= origin.getBoundingClientRect();
    return { x: e.clientX - box.left, y: e.clientY - box.top };
  };
  const forgetBox = (): void => void (box = null);

  const down = (e: PointerEvent): void => {
    if (e.pointerType === "mouse" && e.button !== 0 && e.button !== 1) return;
    forgetBox();
    fingers.set(e.pointerId, at(e));
    if (fingers.size === 1) travelled = 0;
    (e.currentTarget as HTMLElement).setPointerCapture(e.pointerId);
  };
  const move = (e: PointerEvent): void => {
    const p = at(e);
    const before = fingers.get(e.pointerId);
    if (!before) {
      if (fingers.size === 0) to.hover(p.x, p.y);
      return;
    }
    travelled += Math.abs(p.x - before.x) + Math.abs(p.y - before.y);
    if (fingers.size === 2) pinch(e.pointerId, before, p);
    else if (travelled > CLICK_DISTANCE) to.pan(p.x - before.x, p.y - before.y);
    fingers.set(e.pointerId, p);
  };
  const pinch = (id: number, before: Finger, now: Finger): void => {
    for (const [other, f] of fingers) {
      if (other === id) continue;
      const was = Math.hypot(before.x - f.x, before.y - f.y);
      const is = Math.hypot(now.x - f.x, now.y - f.y);
      to.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
      if (was > 1) to.zoom(is / was, (now.x + f.x) / 2, (now.y + f.y) / 2, false);
    }
  };
  const up = (e: PointerEvent): void => {
    const was = fingers.delete(e.pointerId);
    if (was && e.type === "pointerup" && fingers.size === 0 && travelled <= CLICK_DISTANCE && e.button === 0) {
      const p = at(e);
      to.click(p.x, p.y);
    }
  };
  const wheel = (e: WheelEvent): void => {
    e.preventDefault();
    forgetBox();
    const p = at(e);
    const unit = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? 400 : 1;
    if (e.shiftKey && !e.ctrlKey) return to.pan(-(e.deltaX || e.deltaY) * unit, e.deltaX ? -e.deltaY * unit : 0);
    const amount = Math.max(-240, Math.min(240, e.deltaY * unit));
    to.zoom(Math.exp(-amount * (e.ctrlKey ? 0.01 : 0.0022)), p.x, p.y, true);
  };
  const twice = (e: MouseEvent): void => {
    const p = at(e);
    to.doubleClick(p.x, p.y);
  };
  const leave = (): void => {
    forgetBox();
    to.leave();
  };

  const stop = new AbortController();
  const signal = stop.signal;
  for (const el of elements) {
    el.addEventListener("pointerdown", down, { signal });
    el.addEventListener("pointermove", move, { signal });
    el.addEventListener("pointerup", up, { signal });
    el.addEventListener("pointercancel", up, { signal });
    el.addEventListener("pointerleave", leave, { signal });
    el.addEventListener("wheel", wheel, { signal, passive: false });
    el.addEventListener("dblclick", twice, { signal });
    el.style.touchAction = "none";
  }
  window.addEventListener("scroll", forgetBox, { signal, passive: true });
  window.addEventListener("resize", forgetBox, { signal, passive: true });
  return () => stop.abort();
}
