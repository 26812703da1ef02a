// For browsers: finds the module next to this file.
import { PetalError, hasSimd, instantiate } from "./petal.js";

export { Builder, Filter, MapBuilder, Petal, PetalError, PetalMap, hasSimd, instantiate } from "./petal.js";

const BUILDS = ["petal", "reader"];

/** The name of the file that has a build. */
export function fileOf(build, simd) {
  if (!BUILDS.includes(build)) throw new PetalError(-4, `${build} is not a build; they are ${BUILDS.join(" and ")}`);
  return `${build}${simd ? "-simd" : ""}.wasm`;
}

/** Loads a module. */
export async function load({ build = "petal", simd = hasSimd(), from } = {}) {
  const url = new URL(fileOf(build, simd), from ?? new URL(/* @vite-ignore */ "../dist/", import.meta.url));
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  // Not by streaming, which refuses servers that do not know the type of the file.
  return instantiate(await response.arrayBuffer(), { hasSimd: simd });
}
