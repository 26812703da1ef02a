// The golden images of the repository: tests/golden/README.md says what they hold.
import { readFileSync, readdirSync } from "node:fs";

export const GOLDEN = new URL("../../../tests/golden/", import.meta.url);

/** The files of a tar archive: their names and bytes. */
export function* untar(bytes) {
  const text = (start, length) => Buffer.from(bytes.subarray(start, start + length)).toString("latin1").split("\0")[0];
  let long = null;
  for (let at = 0; at + 512 <= bytes.length && bytes[at] !== 0; ) {
    const length = parseInt(text(at + 124, 12), 8);
    const body = bytes.subarray(at + 512, at + 512 + length);
    const type = String.fromCharCode(bytes[at + 156]);
    if (type === "L") long = Buffer.from(body).toString("latin1").split("\0")[0];
    else if (type === "0" || type === "\0") {
      const prefix = text(at + 345, 155);
      yield [long ?? (prefix ? `${prefix}/${text(at, 100)}` : text(at, 100)), body];
      long = null;
    }
    at += 512 + Math.ceil(length / 512) * 512;
  }
}

/** The images of a folder's archives: names and bytes. */
export function images(folder = "") {
  const all = [];
  for (const name of readdirSync(new URL(folder, GOLDEN)).sort()) {
    if (name.endsWith(".petal")) all.push([name, new Uint8Array(readFileSync(new URL(folder + name, GOLDEN)))]);
    if (!name.endsWith(".tar")) continue;
    for (const [file, bytes] of untar(new Uint8Array(readFileSync(new URL(folder + name, GOLDEN))))) {
      if (file.endsWith(".petal")) all.push([file, bytes]);
    }
  }
  return all;
}
