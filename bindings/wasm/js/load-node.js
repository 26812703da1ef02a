// For Node.js: reads the module next to this file.
import { readFile } from "node:fs/promises";
import { fileOf } from "./load.js";
import { hasSimd, instantiate } from "./petal.js";

export { Builder, Filter, MapBuilder, Petal, PetalError, PetalMap, hasSimd, instantiate } from "./petal.js";

/** Loads a module. */
export async function load({ build = "petal", simd = hasSimd(), from } = {}) {
  const url = new URL(fileOf(build, simd), from ?? new URL("../dist/", import.meta.url));
  return instantiate(await readFile(url), { hasSimd: simd });
}
