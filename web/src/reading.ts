// How a model is read: the arguments of docs/server.md that an ONNX file takes.

export interface Reading {
  dims: Record<string, string>; // sizes of open dimensions
  batch: string; // "": as in the model
  train: boolean;
  optimizer: string;
}

export const OPTIMIZERS = ["none", "sgd", "momentum", "adam"] as const;

/** The dimensions that the server's error names, as in dims={"batch": 1, "tokens": 1}. */
export function openDimensions(message: string): string[] {
  const found = /dims=(\{.*\})/.exec(message);
  if (!found) return [];
  try {
    return Object.keys(JSON.parse(found[1]) as Record<string, number>);
  } catch {
    return [];
  }
}

/** As arguments of an address; "" for the model as it is. */
export function readingArguments({ dims, batch, train, optimizer }: Reading): string {
  const parts = new URLSearchParams();
  const sizes = Object.entries(dims).map(([name, size]) => `${name}=${size}`);
  if (sizes.length) parts.set("dims", sizes.join(","));
  if (batch) parts.set("batch", batch);
  if (train) parts.set("train", "1");
  if (train && optimizer !== "none") parts.set("optimizer", optimizer);
  return parts.toString();
}

/** What is wrong with a typed size; null if nothing. */
export function wrongSize(text: string, what: string, optional: boolean): string | null {
  if (optional && text === "") return null;
  return /^[1-9]\d{0,8}$/.test(text) ? null : `${what} must be a whole number from 1 to 999999999${optional ? ", or empty" : ""}.`;
}
