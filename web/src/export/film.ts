// A playback as WebM, recorded while the plan plays from its first move to its last.
import type { Model } from "../model";
import type { Playback } from "../playback";
import type { Theme } from "../states_palette";
import { paintSheet, sheetSize, type SheetCell } from "./sheet";

const FRAMES_PER_SECOND = 30;
const REST_MS = 700; // at the end
const TYPES = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];

export function canFilm(): boolean {
  return typeof MediaRecorder !== "undefined" && TYPES.some((type) => MediaRecorder.isTypeSupported(type));
}

export interface Film {
  done: Promise<Blob>;
  stop(): void; // early, with what is recorded
}

export function film(model: Model, playback: Playback, cells: () => SheetCell[], theme: Theme): Film {
  const type = TYPES.find((one) => MediaRecorder.isTypeSupported(one));
  const sheet = document.createElement("canvas");
  const { width, height } = sheetSize(cells());
  [sheet.width, sheet.height] = [width + (width % 2), height + (height % 2)]; // codecs want even sizes
  const c = sheet.getContext("2d", { alpha: false });
  if (!c || !type) throw new Error("This browser cannot record a canvas. Try another browser.");
  const recorder = new MediaRecorder(sheet.captureStream(FRAMES_PER_SECOND), { mimeType: type, videoBitsPerSecond: 6_000_000 });
  const pieces: Blob[] = [];
  recorder.ondataavailable = (event) => pieces.push(event.data);
  let ended = 0;
  let stopped = false;
  const paint = (now: number): void => {
    if (recorder.state === "inactive") return;
    paintSheet(c, model, cells(), theme, { scale: 1, sharp: false });
    if (!playback.playing && !ended) ended = now;
    if (stopped || (ended && now - ended > REST_MS)) recorder.stop();
    else requestAnimationFrame(paint);
  };
  const done = new Promise<Blob>((resolve, reject) => {
    recorder.onstop = () => resolve(new Blob(pieces, { type: "video/webm" }));
    recorder.onerror = () => reject(new Error("The browser could not record the playback. Try another browser."));
  });
  playback.pause();
  playback.seek(0);
  paintSheet(c, model, cells(), theme, { scale: 1, sharp: false });
  recorder.start(500);
  playback.play();
  requestAnimationFrame(paint);
  return {
    done,
    stop: () => {
      stopped = true;
    },
  };
}
