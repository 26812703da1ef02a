// The modules that are tested: all four, or those that PETAL_MODULES names.
import { test } from "node:test";
import { hasSimd } from "@petal-filter/petal";

const named = process.env.PETAL_MODULES?.split(" ");

/** Whether each of the two modules of a build has SIMD128. A module that is not tested counts as a skipped test. */
export function modules(build) {
  return [true, false].filter((simd) => {
    const file = `${build}${simd ? "-simd" : ""}.wasm`;
    const reason = simd && !hasSimd() ? "this machine has no SIMD128" : named && !named.includes(file) ? "not compiled" : undefined;
    if (reason) test(file, { skip: reason }, () => {});
    return !reason;
  });
}
