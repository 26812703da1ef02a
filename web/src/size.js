// Size: a calculator, its formula, and lines to copy.
import { $, absent, bytes, make, percent, slider, wrong } from "./tools.js";
import { KEYS, RATES, number } from "./choose.js";
import { FORMULAS } from "./formulas.js";
import { LINES, USES, linesOf, stepsOf, usesOf } from "./lines.js";

/** What a kind is given besides keys and rate: the label of the field, and its value at first. */
const MORE = {
  exact_bits: ["The bound: all keys are below it", "10000000"],
  exact_set: ["The universe: all keys that are ever asked for", "10000000"],
  stacked: ["Of 100 lookups of absent keys, how many are for frequent non-members", "50"],
};
const VALUES = ["Bits of a value", "8"];

/** The parameters of the settings, with the unit of the window. */
const parametersOf = (s) => [
  ...(s.isMap ? [["value_bits", s.more]] : s.kind === "stacked" ? [["frequent_share", s.more / 100]] : []),
  ...s.set, ...(s.step ? [["clock", "steps"]] : []),
];

export function size(petal, kinds, changed) {
  const [select, keys, rate, more] = ["#size-kind", "#size-keys", "#size-rate", "#size-more"].map((id) => $(id));
  const options = (isMap) => [...kinds.values()].filter((row) => row.isMap === isMap).map(({ name }) => make("option", {}, name));
  select.append(make("optgroup", { label: "Filters" }, ...options(false)), make("optgroup", { label: "Maps" }, ...options(true)));
  // Parameters that a link gave, as name=value with commas between.
  let set = "";
  // How many frequent non-members there are; without a link as many as keys.
  let non_members = "";
  const moreOf = (kind) => (kinds.get(kind).isMap ? VALUES : MORE[kind]);
  const [use, language, window, minutes] = ["#size-use", "#size-language", "#size-window", "#size-minutes"].map((id) => $(id));
  use.append(...Object.entries(USES).map(([value, text]) => make("option", { value }, text)));
  language.append(...Object.keys(LINES).map((name) => make("option", {}, name)));
  const pairs = () => (set ? set.split(",").map((one) => one.split("=")) : []);

  /** What a window of time comes to: the seconds of a step, and the keys of one. Nothing for a window of keys. */
  function timeOf(row, count) {
    const steps = stepsOf(row, pairs());
    if (steps === null || window.value !== "time") return { step: 0, capacity: count };
    return { step: Math.ceil((60 * number(minutes.value)) / steps), capacity: Math.ceil(count / steps), steps };
  }

  /** The window of keys that has the size of these settings: a step of time has room for its share of them. */
  const windowOf = (s) => ({ kind: s.kind, capacity: s.keys, falsePositiveRate: s.rate, parameters: Object.fromEntries(s.parameters.filter(([name]) => name !== "clock")) });

  /** The numbers of the library. */
  function numbers(s) {
    const parameters = Object.fromEntries(s.parameters);
    if (s.kind === "exact_set" || s.kind === "stacked") {
      const others = s.kind === "exact_set" ? { universe: s.more } : { frequent: s.more / 100, non_members: non_members ? number(non_members) : s.keys };
      const plan = petal.plan({ keys: s.keys, falsePositiveRate: s.hasRate ? s.rate : 0.01, isStatic: true, ...others });
      const { fits, reason, bitsPerKey, bytes, falsePositiveRate } = plan.proposals.find(({ kind }) => kind === s.kind);
      if (!fits) throw new Error(reason);
      return { bits: bitsPerKey * s.keys, bytes, falsePositiveRate, hashes: 0, spec: null };
    }
    const spec = { kind: s.kind, capacity: s.capacity, parameters, ...(s.hasRate ? { falsePositiveRate: s.rate } : {}), ...(s.kind === "exact_bits" ? { bits: s.more } : {}) };
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
    const hasClock = stepsOf(row, pairs()) !== null;
    const isTime = hasClock && window.value === "time";
    $("#of-size-window").hidden = !hasClock;
    $("#of-size-minutes").hidden = !isTime;
    $("#size-keys-label").textContent = isTime ? "Keys in that time, at most" : hasClock || kind === "stable" ? "Keys: the last" : "Keys";
    const uses = usesOf(row);
    for (const option of use.options) option.disabled = option.hidden = !uses.includes(option.value);
    if (!uses.includes(use.value)) use.value = "memory";
    $("#of-size-use").hidden = uses.length === 1;
    changed({
      kind, keys: keys.value, rate: rate.value, more: needs ? more.value : undefined, set, non_members,
      window: isTime ? "time" : undefined, minutes: isTime ? minutes.value : undefined,
      use: use.value === "memory" ? undefined : use.value, language: language.value === "C" ? undefined : language.value,
    });
    $("#size-set").textContent = non_members ? `With ${Number(non_members).toLocaleString("en")} frequent non_members` : set && `With ${set.replaceAll(",", ", ").replaceAll("=", " = ")}`;
    const answer = $("#size-answer");
    const lines = $("#size-lines");
    $("#size-formula").textContent = FORMULAS[kind].text;
    try {
      const s = {
        kind, keys: number(keys.value), rate: Number((Number(rate.value) / 100).toPrecision(12)), hasRate, isMap: row.isMap, isBuilt: !row.isMadeEmpty,
        more: needs ? (kind === "stacked" ? Number(more.value) : number(more.value)) : 0, set: pairs(), ...timeOf(row, number(keys.value)),
        isInPlace: row.isInPlace, takesIntegers: row.takesIntegers, capabilities: row.capabilities, use: use.value,
      };
      s.parameters = parametersOf(s);
      const { spec, ...size } = numbers(s);
      const bits = (8 * size.bytes) / s.keys;
      const says = kind === "exact_set" ? "It is never wrong about a key of the universe." : kind === "retrieval" ? "Absent keys get any value."
        : row.isMap ? absent(size.falsePositiveRate).replace("a “maybe”", "a value") : spec && hasRate ? wrong(petal, row, windowOf(s)) : absent(size.falsePositiveRate);
      const time = s.step ? ` A step has room for ${s.capacity.toLocaleString("en")} keys. More keys in a step raise the rate, and none is lost.` : "";
      answer.replaceChildren(
        make("p", { class: "large" }, make("strong", {}, bytes(size.bytes)), ` for ${s.keys.toLocaleString("en")} keys`),
        make("p", { class: "more" }, `${size.bytes.toLocaleString("en")} bytes with the header and the checksums; ${bits.toFixed(2)} bits a key` +
          `${size.hashes && !s.isBuilt ? `; a key has ${size.hashes} ${size.hashes === 1 ? "place" : "places"}` : ""}. ${says}${time}`),
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
      lines.replaceChildren(...Object.keys(LINES).flatMap((name) => {
        const { before, text } = linesOf(name, s);
        const head = make("div", { class: "head" }, make("p", {}, before));
        const part = make("div", { hidden: name !== language.value, "data-language": name }, head);
        if (text === null) return part;
        const button = make("button", { type: "button", "aria-label": `Copy the lines in ${name}` }, "Copy");
        button.addEventListener("click", () => copy(text));
        head.append(button);
        part.append(make("pre", { tabindex: 0 }, text));
        return part;
      }));
    } catch (error) {
      if (error.status === "internal") throw error;
      answer.replaceChildren(make("p", { class: "large" }, `That cannot be: ${error.message}.`));
      lines.hidden = true;
      $("#size-rates").hidden = true;
      $("#size-by-formula").textContent = "";
    }
  }

  /** What the formula gives, next to what the library says. */
  function showFormula({ kind, keys: n, rate: p, more: other, step }, { bits, hashes: k, falsePositiveRate }) {
    const formula = FORMULAS[kind];
    const given = { n, p, bits, k, universe: other, valueBits: other };
    const place = $("#size-by-formula");
    const text = (value) => `${Number(value.toPrecision(4))} bits a key`;
    // The library's bits a key are those of the formula's part: without header, checksums and the last line.
    const [name, value, own] = formula.bits
      ? ["bits", formula.bits(given), bits / n]
      : ["rate", formula.rate ? formula.rate(given) : null, falsePositiveRate];
    // The numbers of a window of time are those of one step.
    const isKnown = value !== null && n >= (formula.from ?? 0) && !step;
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
    [set, non_members] = ["", ""];
    more.value = moreOf(select.value)?.[1] ?? "";
    update();
  });
  for (const field of [more, minutes]) field.addEventListener("input", update);
  for (const field of [use, language, window]) field.addEventListener("change", update);
  $("#size form").addEventListener("submit", (event) => event.preventDefault());
  $("#copy-link").addEventListener("click", () => copy(location.href));
  return {
    read: (from) => {
      select.value = from.kind ?? "blocked";
      if (select.selectedIndex < 0) select.value = "blocked";
      keys.value = from.keys ?? "1000000";
      rate.value = from.rate ?? "1";
      [set, non_members] = [from.set ?? "", from.non_members ?? ""];
      more.value = from.more ?? moreOf(select.value)?.[1] ?? "";
      window.value = from.window === "time" ? "time" : "keys";
      minutes.value = from.minutes ?? "60";
      use.value = Object.hasOwn(USES, from.use) ? from.use : "memory";
      language.value = Object.hasOwn(LINES, from.language) ? from.language : "C";
      shows.forEach((show) => show());
    },
    update,
  };
}
