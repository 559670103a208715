// What a picture is drawn with: a canvas or the text of an SVG file, so that both look alike.
import { escapeXml } from "../scene/export";

export interface TextStyle {
  fill: string;
  size: number;
  bold?: boolean;
  align?: "left" | "center" | "right";
}

export type Point = readonly [number, number];

export interface Pen {
  rect(x: number, y: number, width: number, height: number, fill: string): void;
  circle(x: number, y: number, radius: number, fill: string | null, stroke: string | null): void;
  area(points: readonly Point[], fill: string): void;
  line(points: readonly Point[], stroke: string, width: number, dash?: readonly number[]): void;
  /** The baseline is at y; longer text is cut. */
  text(x: number, y: number, text: string, style: TextStyle, room?: number): void;
}

const FONT = '"Inter", "Segoe UI", system-ui, "Liberation Sans", sans-serif';

export class CanvasPen implements Pen {
  constructor(readonly c: CanvasRenderingContext2D) {}

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    this.c.fillStyle = fill;
    this.c.fillRect(x, y, width, height);
  }

  circle(x: number, y: number, radius: number, fill: string | null, stroke: string | null): void {
    this.c.beginPath();
    this.c.arc(x, y, radius, 0, 7);
    if (fill) {
      this.c.fillStyle = fill;
      this.c.fill();
    }
    if (!stroke) return;
    this.c.strokeStyle = stroke;
    this.c.lineWidth = 1.5;
    this.c.stroke();
  }

  area(points: readonly Point[], fill: string): void {
    this.path(points);
    this.c.fillStyle = fill;
    this.c.fill();
  }

  line(points: readonly Point[], stroke: string, width: number, dash: readonly number[] = []): void {
    this.path(points);
    this.c.strokeStyle = stroke;
    this.c.lineWidth = width;
    this.c.setLineDash([...dash]);
    this.c.stroke();
    this.c.setLineDash([]);
  }

  private path(points: readonly Point[]): void {
    this.c.beginPath();
    for (const [x, y] of points) this.c.lineTo(x, y);
  }

  text(x: number, y: number, text: string, { fill, size, bold, align = "left" }: TextStyle, room = Infinity): void {
    this.c.font = `${bold ? "600 " : ""}${size}px ${FONT}`;
    this.c.fillStyle = fill;
    this.c.textAlign = align;
    let shown = text;
    while (shown.length > 2 && this.c.measureText(shown).width > room) shown = `${shown.slice(0, -2)}…`;
    this.c.fillText(shown, x, y);
  }
}

const short = (v: number): string => String(Math.round(v * 10) / 10);

export class SvgPen implements Pen {
  readonly parts: string[] = [];

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    this.parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${fill}"/>`);
  }

  circle(x: number, y: number, radius: number, fill: string | null, stroke: string | null): void {
    this.parts.push(`<circle cx="${short(x)}" cy="${short(y)}" r="${short(radius)}" fill="${fill ?? "none"}"${stroke ? ` stroke="${stroke}" stroke-width="1.5"` : ""}/>`);
  }

  area(points: readonly Point[], fill: string): void {
    this.parts.push(`<path d="${this.path(points)}Z" fill="${fill}"/>`);
  }

  line(points: readonly Point[], stroke: string, width: number, dash: readonly number[] = []): void {
    this.parts.push(`<path d="${this.path(points)}" fill="none" stroke="${stroke}" stroke-width="${width}"${dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : ""}/>`);
  }

  private path(points: readonly Point[]): string {
    return points.map(([x, y], i) => `${i ? "L" : "M"}${short(x)} ${short(y)}`).join("");
  }

  text(x: number, y: number, text: string, { fill, size, bold, align = "left" }: TextStyle, room = Infinity): void {
    const letters = Math.floor(room / (size * (bold ? 0.6 : 0.55)));
    const shown = text.length > letters ? `${text.slice(0, Math.max(1, letters - 1))}…` : text;
    const anchor = align === "left" ? "" : ` text-anchor="${align === "center" ? "middle" : "end"}"`;
    this.parts.push(`<text x="${short(x)}" y="${short(y)}" font-size="${size}"${bold ? ' font-weight="600"' : ""}${anchor} fill="${fill}">${escapeXml(shown)}</text>`);
  }
}
