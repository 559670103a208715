// A small graph inside a link: its JSON, compressed, in letters that an address may have.
export const PACKED_NODES = 3000;
const PACKED_LETTERS = 14_000; // longer addresses are cut off by some programs that pass them on

async function through(bytes: BlobPart, stream: GenericTransformStream): Promise<ArrayBuffer> {
  return new Response(new Blob([bytes]).stream().pipeThrough(stream as ReadableWritablePair<Uint8Array, Uint8Array>)).arrayBuffer();
}

/** Null if the graph is too large for a link. */
export async function packGraph(json: string): Promise<string | null> {
  const packed = new Uint8Array(await through(shorter(json), new CompressionStream("deflate-raw")));
  if (packed.length * 4 > PACKED_LETTERS * 3) return null;
  let text = "";
  for (const byte of packed) text += String.fromCharCode(byte);
  return btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

export async function unpackGraph(data: string): Promise<string> {
  const text = atob(data.replace(/-/g, "+").replace(/_/g, "/"));
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  return new TextDecoder("utf-8", { fatal: true }).decode(await through(bytes, new DecompressionStream("deflate-raw")));
}

/** Without the blanks between tokens. Numbers stay as they are written. */
function shorter(json: string): string {
  return json.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_all, text: string | undefined) => text ?? "");
}
