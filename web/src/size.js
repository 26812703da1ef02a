// Size: a calculator, its formula, and lines to copy.
import { $, absent, bytes, make, percent, slider } from "./tools.js";
import { KEYS, RATES, number } from "./choose.js";
import { FORMULAS } from "./formulas.js";

/** What a kind is told beside keys and rate: the label of the field, and its value at first. */
const MORE = {
  exact_bits: ["The bound: all keys are below it", "10000000"],
  exact_set: ["The universe: all keys that are ever asked for", "10000000"],
  stacked: ["Of 100 lookups of absent keys, how many are for frequent strangers", "50"],
};
const VALUES = ["Bits of a value", "8"];

/** What a spec of these settings is, as C has it: names of fields and their values. */
const fieldsOf = (s) => [
  ["kind", `PETAL_KIND_${s.kind.toUpperCase()}`],
  ...(s.kind === "exact_bits" ? [["bits", s.more]] : s.isBuilt ? [] : [["capacity", s.keys]]),
  ...(s.hasRate ? [["false_positive_rate", s.rate]] : []),
];

/** The parameters of the settings. */
const parametersOf = (s) => [...(s.isMap ? [["value_bits", s.more]] : s.kind === "stacked" ? [["frequent_share", s.more / 100]] : []), ...s.set];

/** What comes before the lines of a language. */
const BEFORE = {
  C: (s) => `Needs #include <petal${s.isMap ? "_map" : ""}.h>. Compile with $(pkg-config --cflags --libs petal).`,
  "C++": () => "Needs #include <petal.hpp>. Compile with $(pkg-config --cflags --libs petal).",
  Go: () => "Needs import \"github.com/petal-filter/petal/bindings/go\".",
  Shell: (s) => fileText(s.kind, s.isMap),
};

/** What is given to a builder beside its members. */
const BESIDE = {
  exact_set: {
    C: "petal_builder_add() takes the members, petal_builder_exclude() of petal_more.h the other keys of the universe.",
    "C++": "builder.add() takes the members, builder.exclude() the other keys of the universe.",
    Go: "builder.Add takes the members, builder.Exclude the other keys of the universe.",
  },
  stacked: {
    C: "petal_builder_add() takes the members, petal_builder_frequent() of petal_more.h the frequent strangers.",
    "C++": "builder.add() takes the members, builder.frequent() the frequent strangers.",
    Go: "builder.Add takes the members, builder.Frequent the frequent strangers.",
  },
};
const besideOf = (s, language) => (BESIDE[s.kind] ? `\n// ${BESIDE[s.kind][language]}` : "");

/** What the shell and programs are given, for a filter or a map. */
export const LINES = {
  C: (s) => {
    const type = `petal_${s.isMap ? "map" : "filter"}`;
    const [name, noun, call] = s.isBuilt
      ? [s.isMap ? "petal_map_builder" : "petal_builder", "builder", `petal_${s.isMap ? "map_builder" : "builder"}_new(&spec, NULL, &builder, NULL)`]
      : [type, s.isMap ? "map" : "filter", `${type}_new(&spec, &${s.isMap ? "map" : "filter"}, NULL)`];
    const fields = fieldsOf(s).map(([field, value]) => `.${field} = ${value}`).join(",\n    ");
    const set = parametersOf(s).map(([parameter, value]) => `petal_spec_set(&spec, "${parameter}", ${value}, NULL)`);
    return [
      `petal_spec spec = {\n    .struct_size = sizeof spec,\n    ${fields},\n};`, `${name} *${noun} = NULL;`,
      ...[...set, call].map((one, i) => (i === 0 ? `petal_status status = ${one};` : `if (status == PETAL_OK) status = ${one};`)),
    ].join("\n") + besideOf(s, "C");
  },
  "C++": (s) => {
    const fields = fieldsOf(s).map(([field, value]) => (field === "kind" ? `.kind("${s.kind}")` : `.${field}(${value})`));
    const spec = `petal::spec()${[...fields, ...parametersOf(s).map(([parameter, value]) => `.set("${parameter}", ${value})`)].join("")}`;
    const [type, noun] = s.isBuilt ? [s.isMap ? "map_builder" : "builder", "builder"] : s.isMap ? ["map", "map"] : ["filter", "filter"];
    return `petal::${type} ${noun}(${spec});${besideOf(s, "C++")}`;
  },
  Go: (s) => {
    const names = { kind: "Kind", bits: "Bits", capacity: "Capacity", false_positive_rate: "FalsePositiveRate" };
    const fields = fieldsOf(s).map(([field, value]) => `${names[field]}: ${field === "kind" ? `"${s.kind}"` : value}`);
    const parameters = parametersOf(s).map(([parameter, value]) => `"${parameter}": "${value}"`);
    if (parameters.length) fields.push(`Parameters: map[string]string{${parameters.join(", ")}}`);
    const spec = `petal.Spec{${fields.join(", ")}}`;
    const noun = s.isMap ? "Map" : "";
    return (s.isBuilt ? `builder, err := petal.New${noun}Builder(${spec}, nil)` : `${s.isMap ? "m" : "filter"}, err := petal.New${noun}(${spec})`) + besideOf(s, "Go");
  },
  Shell: (s) => {
    const options = [`--kind ${s.kind}`];
    if (s.kind === "exact_bits") options.push(`--bits ${s.more}`);
    else if (!s.isBuilt) options.push(`--capacity ${s.keys}`);
    if (s.hasRate) options.push(`--fpr ${s.rate}`);
    for (const [parameter, value] of parametersOf(s)) options.push(`--set ${parameter}=${value}`);
    if (s.kind === "exact_set") options.push("--universe universe.txt");
    if (s.kind === "stacked") options.push("--frequent strangers.txt");
    return `petal ${s.isMap ? "map " : ""}build ${options.join(" ")} -o keys.petal ${s.isMap ? "keys.tsv" : "keys.txt"}`;
  },
};

/** What the files of the shell's lines have. */
const FILES = {
  exact_set: "keys.txt has a member on each line, universe.txt all keys.",
  stacked: "keys.txt has a member on each line, strangers.txt a lookup of an absent key, as a log has them.",
  exact_bits: "keys.txt has a whole number on each line.",
};
const fileText = (kind, isMap) => (isMap ? "keys.tsv has a key, a tab and a whole number on each line." : FILES[kind] ?? "keys.txt has a key on each line.");

export function size(petal, kinds, changed) {
  const [select, keys, rate, more] = ["#size-kind", "#size-keys", "#size-rate", "#size-more"].map((id) => $(id));
  const options = (isMap) => [...kinds.values()].filter((row) => row.isMap === isMap).map(({ name }) => make("option", {}, name));
  select.append(make("optgroup", { label: "Filters" }, ...options(false)), make("optgroup", { label: "Maps" }, ...options(true)));
  // Parameters that a link gave, as name=value with commas between.
  let set = "";
  // How many frequent strangers there are; without a link as many as keys.
  let strangers = "";
  const moreOf = (kind) => (kinds.get(kind).isMap ? VALUES : MORE[kind]);

  /** The numbers of the library. */
  function numbers(s) {
    const parameters = Object.fromEntries(parametersOf(s));
    if (s.kind === "exact_set" || s.kind === "stacked") {
      const others = s.kind === "exact_set" ? { universe: s.more } : { frequent: s.more / 100, strangers: strangers ? number(strangers) : s.keys };
      const plan = petal.plan({ keys: s.keys, falsePositiveRate: s.hasRate ? s.rate : 0.01, isStatic: true, ...others });
      const { fits, reason, bitsPerKey, bytes, falsePositiveRate } = plan.proposals.find(({ kind }) => kind === s.kind);
      if (!fits) throw new Error(reason);
      return { bits: bitsPerKey * s.keys, bytes, falsePositiveRate, hashes: 0, spec: null };
    }
    const spec = { kind: s.kind, capacity: s.keys, parameters, ...(s.hasRate ? { falsePositiveRate: s.rate } : {}), ...(s.kind === "exact_bits" ? { bits: s.more } : {}) };
    return { ...petal.size(spec), spec };
  }

  function update() {
    const kind = select.value;
    const row = kinds.get(kind);
    const needs = moreOf(kind);
    $("#of-size-more").hidden = !needs;
    if (needs) $("#size-more-label").textContent = needs[0];
    const hasRate = !["exact_bits", "exact_set", "retrieval"].includes(kind);
    for (const id of ["#size-rate", "#size-rate-slider"]) $(id).disabled = !hasRate;
    changed({ kind, keys: keys.value, rate: rate.value, more: needs ? more.value : undefined, set, strangers });
    $("#size-set").textContent = strangers ? `With ${Number(strangers).toLocaleString("en")} frequent strangers` : set && `With ${set.replaceAll(",", ", ").replaceAll("=", " = ")}`;
    const answer = $("#size-answer");
    const lines = $("#size-lines");
    $("#size-formula").textContent = FORMULAS[kind].text;
    try {
      const s = {
        kind, keys: number(keys.value), rate: Number((Number(rate.value) / 100).toPrecision(12)), hasRate, isMap: row.isMap, isBuilt: !row.isMadeEmpty,
        more: needs ? (kind === "stacked" ? Number(more.value) : number(more.value)) : 0,
        set: set ? set.split(",").map((one) => one.split("=")) : [],
      };
      const { spec, ...size } = numbers(s);
      const bits = (8 * size.bytes) / s.keys;
      // Such a filter changes with the keys that come after.
      const isYoung = ["grow", "age"].some((one) => row.capabilities.includes(one));
      const maybe = absent(size.falsePositiveRate);
      const wrong = isYoung && hasRate ? `So far: ${maybe} The limit is ${percent(s.rate)}.` : kind === "exact_set" ? "It is never wrong about a key of the universe." : kind === "retrieval" ? "Absent keys get any value." :
        row.isMap ? absent(size.falsePositiveRate).replace("a “maybe”", "a value") : absent(size.falsePositiveRate);
      answer.replaceChildren(
        make("p", { class: "large" }, make("strong", {}, bytes(size.bytes)), ` for ${s.keys.toLocaleString("en")} keys`),
        make("p", {}, `${size.bytes.toLocaleString("en")} bytes with the header and the checksums; ${bits.toFixed(2)} bits a key` +
          `${size.hashes && !s.isBuilt ? `; a key has ${size.hashes} ${size.hashes === 1 ? "place" : "places"}` : ""}. ${wrong}`),
      );
      Object.assign(answer.dataset, { bytes: size.bytes, rate: size.falsePositiveRate, bits: size.bits });
      showFormula(s, size);
      const others = row.isMadeEmpty && !row.isMap && spec !== null && hasRate && !["grow", "age"].some((one) => row.capabilities.includes(one));
      $("#size-rates").hidden = !others;
      $("#size-rates tbody").replaceChildren(...(others ? [0.25, 0.5, 0.75, 1, 1.5, 2, 3] : []).map((share) => {
        const count = Math.max(1, Math.round(share * s.keys));
        return make("tr", {}, make("td", {}, count.toLocaleString("en")), make("td", {}, `${100 * share} %`), make("td", {}, percent(petal.size(spec, count).falsePositiveRate)));
      }));
      lines.hidden = false;
      lines.className = "lines";
      lines.replaceChildren(...Object.entries(LINES).flatMap(([language, text]) => {
        const button = make("button", { type: "button", "aria-label": `Copy the lines in ${language}` }, "Copy");
        button.addEventListener("click", () => copy(text(s)));
        return [make("h3", {}, language, button), make("p", {}, BEFORE[language](s)), make("pre", { tabindex: 0, "data-language": language }, text(s))];
      }));
    } catch (error) {
      if (error.status === "internal") throw error;
      answer.replaceChildren(make("p", {}, `That cannot be: ${error.message}.`));
      lines.hidden = true;
      $("#size-rates").hidden = true;
      $("#size-by-formula").textContent = "";
    }
  }

  /** What the formula gives, beside what the library says. */
  function showFormula({ kind, keys: n, rate: p, more: other }, { bits, hashes: k, falsePositiveRate }) {
    const formula = FORMULAS[kind];
    const given = { n, p, bits, k, universe: other, valueBits: other };
    const place = $("#size-by-formula");
    const text = (value) => `${Number(value.toPrecision(4))} bits a key`;
    // The library's bits a key are those of the formula's part: without header, checksums and the last line.
    const [name, value, own] = formula.bits
      ? ["bits", formula.bits(given), bits / n]
      : ["rate", formula.rate ? formula.rate(given) : null, falsePositiveRate];
    const isKnown = value !== null && n >= (formula.from ?? 0);
    place.textContent = !isKnown ? "" : name === "bits" ? `The formula gives ${text(value)}, the library ${text(own)}.`
      : `The formula gives the rate ${percent(value)}, the library ${percent(own)}.`;
    Object.assign(place.dataset, { value: isKnown ? value : "", own, within: formula.within ?? "" });
  }

  async function copy(text) {
    const copied = $("#copied");
    try {
      await navigator.clipboard.writeText(text);
      copied.textContent = "Copied.";
    } catch {
      // Pages that are opened as files may not write to the clipboard in every browser.
      const area = make("textarea", {}, text);
      document.body.append(area);
      area.select();
      copied.textContent = document.execCommand("copy") ? "Copied." : "This browser does not let the page copy.";
      area.remove();
    }
  }

  const shows = [slider($("#size-keys-slider"), keys, KEYS, update), slider($("#size-rate-slider"), rate, RATES, update, 100)];
  select.addEventListener("change", () => {
    [set, strangers] = ["", ""];
    more.value = moreOf(select.value)?.[1] ?? "";
    update();
  });
  more.addEventListener("input", update);
  $("#size form").addEventListener("submit", (event) => event.preventDefault());
  $("#copy-link").addEventListener("click", () => copy(location.href));
  return {
    read: (from) => {
      select.value = from.kind ?? "blocked";
      if (select.selectedIndex < 0) select.value = "blocked";
      keys.value = from.keys ?? "1000000";
      rate.value = from.rate ?? "1";
      [set, strangers] = [from.set ?? "", from.strangers ?? ""];
      more.value = from.more ?? moreOf(select.value)?.[1] ?? "";
      shows.forEach((show) => show());
    },
    update,
  };
}
