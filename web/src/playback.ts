// The clock of the playback. It advances the player by whole moves, according to the elapsed time.
import { NONE, type Frames } from "./binary";
import type { Player } from "./player";

export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64];
const WHOLE_PLAN_SECONDS = 16; // at speed 1, a plan of any length takes about this long
const SLOWEST = 1.5; // moves a second at speed 1, however short the plan

/** The step that shows the peak; 0 if the peak is before the first move. */
export function peakStep(frames: Frames): number {
  return frames.peakStep === NONE ? 0 : frames.peakStep + 1;
}

export class Playback {
  player: Player | null = null;
  playing = false;
  speed = 1;
  onStep?: () => void;
  onState?: () => void;
  /** Plans that play next to it; all follow one clock, of work or of moves. */
  private others: Player[] = [];
  private clock: "work" | "moves" = "work";
  private now = 0; // with others: what the clock shows
  private last = 0;
  private owed = 0;

  /** Moves per second at the current speed. */
  rate(): number {
    const moves = this.player?.frames.moveCount ?? 0;
    return this.speed * rateOf(moves);
  }

  setPlayer(player: Player | null): void {
    this.player = player;
    this.owed = 0;
    if (!player) this.pause();
  }

  /** The plans that play next to the one of setPlayer. They are set to where it is. */
  setOthers(others: Player[], clock: "work" | "moves"): void {
    this.others = others;
    this.clock = clock;
    if (this.player) this.settle(this.player.step);
  }

  /** What the clock shows, and where it ends: work done, or moves. */
  get time(): { now: number; end: number } {
    return { now: this.now, end: this.end() };
  }

  /** Several plans, or one whose moves overlap in time, follow the clock rather than the number of moves. */
  private get byClock(): boolean {
    return this.others.length > 0 || !!this.player?.frames.timed;
  }

  private end(): number {
    return Math.max(1, ...this.all().map((one) => (this.clock === "moves" ? one.frames.moveCount : workEnd(one.frames))));
  }

  private all(): Player[] {
    return this.player ? [this.player, ...this.others] : [];
  }

  private stepAt(player: Player, now: number): number {
    return this.clock === "moves" ? Math.min(player.frames.moveCount, Math.floor(now)) : stepAtWork(player.frames, now);
  }

  /** The clock follows the shown plan; at its end, all are at theirs. */
  private settle(step: number): void {
    const player = this.player;
    if (!player || !this.byClock) return;
    const last = player.frames.moveCount;
    this.now = step >= last ? this.end() : this.clock === "moves" ? step : step > 0 ? player.frames.time[step - 1] : 0;
    for (const one of this.others) one.seek(this.stepAt(one, this.now));
  }

  private atEnd(): boolean {
    if (!this.player) return true;
    return this.byClock ? this.now >= this.end() : this.player.step >= this.player.frames.moveCount;
  }

  play(): void {
    if (!this.player || this.playing) return;
    if (this.atEnd()) this.seek(0);
    this.playing = true;
    this.last = performance.now();
    this.owed = 0;
    this.onState?.();
  }

  pause(): void {
    if (!this.playing) return;
    this.playing = false;
    this.onState?.();
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  seek(step: number): void {
    if (!this.player) return;
    const bounded = Math.max(0, Math.min(this.player.frames.moveCount, Math.round(step)));
    const time = this.now;
    this.settle(bounded);
    if (bounded === this.player.step && time === this.now) return;
    this.player.seek(bounded);
    this.onStep?.();
  }

  stepBy(moves: number): void {
    this.pause();
    if (this.player) this.seek(this.player.step + moves);
  }

  faster(direction: 1 | -1): void {
    const at = SPEEDS.indexOf(this.speed);
    this.setSpeed(SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at + direction))]);
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    this.onState?.();
  }

  /** Called once per frame. */
  tick(now: number): void {
    const player = this.player;
    if (!this.playing || !player) return;
    const seconds = Math.min(250, now - this.last) / 1000;
    this.last = now;
    if (this.byClock) return this.tickTogether(seconds);
    this.owed += seconds * this.rate();
    const moves = Math.floor(this.owed);
    if (moves < 1) return;
    this.owed -= moves;
    this.seek(player.step + moves);
    if (player.step >= player.frames.moveCount) this.pause();
  }

  private tickTogether(seconds: number): void {
    const moves = Math.max(...this.all().map((one) => one.frames.moveCount));
    const whole = moves / (this.speed * rateOf(moves)); // seconds for the longest
    const end = this.end();
    this.now = Math.min(end, this.now + (seconds * end) / Math.max(0.1, whole));
    const before = this.all().map((one) => one.step);
    for (const one of this.all()) one.seek(this.now >= end ? one.frames.moveCount : this.stepAt(one, this.now));
    if (this.now >= end) this.pause();
    if (this.all().some((one, i) => one.step !== before[i]) || this.now >= end) this.onStep?.();
  }
}

/** Moves per second at speed 1. */
function rateOf(moves: number): number {
  return Math.min(Math.max(SLOWEST, moves / WHOLE_PLAN_SECONDS), Math.max(6, moves / WHOLE_PLAN_SECONDS));
}

/** Work and transfers before the last move: plans that end with moves without cost end there. The makespan of a timed plan. */
export function workEnd(frames: Frames): number {
  if (frames.timed) return frames.timed.makespan;
  return frames.moveCount ? frames.time[frames.moveCount - 1] : 0;
}

/** Moves that have begun when the clock shows this much work. */
export function stepAtWork(frames: Frames, work: number): number {
  if (work <= 0) return 0;
  let low = 0;
  let high = frames.moveCount; // the first move that begins later
  while (low < high) {
    const middle = (low + high) >> 1;
    if (frames.time[middle] > work) high = middle;
    else low = middle + 1;
  }
  return low;
}
