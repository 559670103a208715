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
  private last = 0;
  private owed = 0;

  /** Moves per second at the current speed. */
  rate(): number {
    const moves = this.player?.frames.moveCount ?? 0;
    return this.speed * Math.min(Math.max(SLOWEST, moves / WHOLE_PLAN_SECONDS), Math.max(6, moves / WHOLE_PLAN_SECONDS));
  }

  setPlayer(player: Player | null): void {
    this.player = player;
    this.owed = 0;
    if (!player) this.pause();
  }

  play(): void {
    if (!this.player || this.playing) return;
    if (this.player.step >= this.player.frames.moveCount) this.seek(0);
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
    if (bounded === this.player.step) return;
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
    this.owed += (Math.min(250, now - this.last) / 1000) * this.rate();
    this.last = now;
    const moves = Math.floor(this.owed);
    if (moves < 1) return;
    this.owed -= moves;
    this.seek(player.step + moves);
    if (player.step >= player.frames.moveCount) this.pause();
  }
}
