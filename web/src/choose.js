// Choose: questions, and what the planner answers.
import { $, absent, bytes, logarithmic, make, percent, slider, wrong } from "./tools.js";
import { stepsOf, usesOf } from "./lines.js";
import { picture } from "./picture.js";

const DEFAULTS = {
  have: "known", minutes: "60", integers: false, universe: "1000000", asked: false, all: "10000000", often: false, share: "80", non_members: "100000", remove: false, count: false, times: "10", inPlace: false,
  shared: false, merge: false, lose: false, values: "none", valueBits: "8", keys: "1000000", goal: "rate", rate: "1",
  memory: "1200000",
};

export const KEYS = logarithmic(10, 1e11, 100);
export const RATES = logarithmic(1e-9, 0.5, 90);
const MEMORY = logarithmic(100, 1e12, 100);

/** Groups of kinds by what they can do, as `petal plan` has them: a kind belongs to the last that it suits. */
const GROUPS = [
  ["Built from all keys at once", []],
  ["Keys are inserted at any time", ["insert"]],
  ["Keys are removed too", ["remove"]],
  ["Keys are counted too", ["count"]],
  ["Keys are removed and counted too", ["remove", "count"]],
  ["The filter grows with its keys", ["grow"]],
  ["Old keys are forgotten", ["age"]],
];

/** Which maps give what is asked for. */
const MAPS = {
  fixed: [["bloomier", "the exact value of each key, and “absent” for other keys; built from all keys at once"]],
  change: [["mutable_bloomier", "the exact value of each key; the values change later, the keys stay"]],
  join: [["approximator", "the greatest or the least value, or a set of flags, for keys that come at any time"]],
  present: [
    ["retrieval", "the exact value of each key that is there; a key that is not there gets any value"],
    ["bloomier", "as `retrieval`, and “absent” for nearly all other keys"],
  ],
};

export function choose(petal, kinds, changed) {
  const form = $("#choose form");
  const fields = form.elements;
  const advice = $("#advice");
  const { show, point } = picture($("#picture"), $("#picture-text"));
  const shows = [];

  // The line of a row that one points at, by the pointer or by the keyboard, or touches.
  const table = $("#proposals");
  const pointAt = (element) => point(element?.closest("#proposals tr[data-kind]")?.dataset.kind ?? null);
  for (const event of ["pointerover", "focusin", "click"]) table.addEventListener(event, ({ target }) => pointAt(target));
  for (const event of ["pointerleave", "focusout"]) table.addEventListener(event, () => pointAt(document.activeElement));

  /** What the form says; texts and yes or no. */
  function settings() {
    const all = {};
    for (const [name, value] of Object.entries(DEFAULTS)) {
      all[name] = typeof value === "boolean" ? fields[name].checked : fields[name].value;
    }
    return all;
  }

  function write(all) {
    // An address may have any names, and the form has only these.
    for (const name of Object.keys(DEFAULTS)) {
      const [field, value] = [fields[name], all[name] ?? DEFAULTS[name]];
      if (typeof DEFAULTS[name] === "boolean") field.checked = value === true || value === "1";
      else field.value = value;
      // No button of a group is chosen if the address says nonsense.
      if (field instanceof RadioNodeList && field.value === "") field.value = DEFAULTS[name];
      if (field instanceof HTMLSelectElement && field.selectedIndex < 0) field.value = DEFAULTS[name];
    }
    shows.forEach((show) => show());
  }

  // What is asked of absent keys helps only a filter that is built from all keys.
  const isAsked = (all) => all.have === "all" && all.asked && !all.integers;
  const isOften = (all) => all.have === "all" && all.often;
  const isWindow = ({ have }) => have === "window" || have === "time";

  /** The request to the planner. */
  function request(all) {
    const { have, goal } = all;
    const wanted = [
      ["age", isWindow(all)], ["remove", all.remove], ["count", all.count], ["grow", have === "unknown"],
      ["insert_shared", all.shared], ["merge", all.merge], ["may_lose_keys", all.lose],
    ];
    return {
      keys: number(all.keys),
      ...(goal === "rate" ? { falsePositiveRate: Number(all.rate) / 100 } : { memory: number(all.memory) }),
      capabilities: wanted.filter(([, is]) => is).map(([name]) => name),
      isStatic: have === "all",
      inPlace: all.inPlace,
      universe: all.integers ? number(all.universe) : isAsked(all) ? number(all.all) : 0,
      ...(isOften(all) ? { frequent: Number(all.share) / 100, non_members: number(all.non_members) } : {}),
      times: all.count ? number(all.times) : 0,
    };
  }

  function update() {
    const all = settings();
    $("#of-universe").hidden = !all.integers;
    $("#of-all").hidden = all.have !== "all";
    $("#of-asked").hidden = !isAsked(all);
    $("#of-often").hidden = !isOften(all);
    fields.asked.disabled = all.integers;
    $("#of-times").hidden = !all.count;
    $("#of-values").hidden = all.values === "none";
    $("#of-time").hidden = all.have !== "time";
    $("#keys-label").textContent = all.have === "window" ? "Keys that count: the last" : all.have === "time" ? "Keys in that time, at most" : all.have === "unknown" ? "Keys at first" : "Keys";
    for (const [goal, ids] of [["rate", ["rate", "rate-slider"]], ["memory", ["memory", "memory-slider"]]]) {
      ids.forEach((id) => { $(`#${id}`).disabled = all.goal !== goal; });
    }
    changed(Object.fromEntries(Object.entries(all).filter(([name, value]) => value !== DEFAULTS[name]).map(([name, value]) => [name, value === true ? "1" : value])));
    try {
      if (all.values !== "none") showMaps(all);
      else showPlan(all);
    } catch (error) {
      if (error.status === "internal") throw error;
      advice.replaceChildren(make("p", { class: "large" }, `That cannot be: ${error.message}.`));
      fillTable([], null);
      others([]);
      show(null);
    }
  }

  function showPlan(all) {
    const asked = request(all);
    const plan = planOf(asked, all);
    const fits = plan.proposals.filter(({ fits }) => fits);
    // Filters of the same memory differ in their rates.
    const by = all.goal === "rate" ? "bytes" : "falsePositiveRate";
    fillTable([...fits].sort((a, b) => a[by] - b[by]), plan.recommended);
    $("#proposals-order").textContent = `The kinds that fit: in each group the ${by === "bytes" ? "smallest" : "most accurate"} first`;
    others(plan.proposals.filter(({ fits }) => !fits));
    const best = fits.find(({ kind }) => kind === plan.recommended);
    advice.replaceChildren(...(best ? advise(best, all) : [make("p", { class: "large" }, "No kind does all of this."), make("p", { class: "more" }, "Below stands why each will not do: give up one wish.")]));
    show({ plan, request: asked, petal, names: kinds });
  }

  /** The planner's answer. A bound is for keys that are whole numbers; for others that kind falls away. */
  function planOf(asked, all) {
    const plan = petal.plan(asked);
    if (all.have === "time") return timed(plan);
    if (!isAsked(all)) return plan;
    const proposals = plan.proposals.map((one) => (one.kind === "exact_bits" ? { kind: one.kind, fits: false, reason: "its keys are whole numbers below a bound" } : one));
    // Where all keys are known, the planner takes the first that fits.
    return { recommended: proposals.find(({ fits }) => fits)?.kind ?? null, proposals };
  }

  /**
   * The answer for a window of time. The planner counts keys; with a clock a filter has the same size, because each step
   * has room for its share of them. A kind without a clock falls away.
   */
  function timed({ recommended, proposals }) {
    const hasClock = ({ kind }) => stepsOf(kinds.get(kind), []) !== null;
    const all = proposals.map((one) => (one.fits && !hasClock(one) ? { kind: one.kind, fits: false, reason: "its keys fade by the number of insertions, not by the clock" } : one));
    const best = all.find(({ kind, fits }) => fits && kind === recommended) ?? all.find(({ fits }) => fits);
    return { recommended: best?.kind ?? null, proposals: all };
  }

  function advise(best, all) {
    const row = kinds.get(best.kind);
    const parameters = Object.entries(best.parameters).map(([name, value]) => ` with ${name} = ${value}`).join("");
    const lines = best.linesPerLookup.toFixed(1).replace(".0", "");
    const take = make("p", { class: "large" }, "Take ", make("strong", {}, best.kind), `${parameters}: `,
      `${bytes(best.bytes)}, ${best.bitsPerKey.toFixed(2)} bits a key. ${rateOf(best, all)}`);
    const more = [make("p", {}, `${row.summary[0].toUpperCase()}${row.summary.slice(1)}. A lookup reads ${lines} cache ${lines === "1" ? "line" : "lines"}.`)];
    const tell = (text) => more.push(make("p", {}, text));
    if (all.have === "window") tell("The last keys are always found. Each new key pushes old ones out, whatever the time.");
    if (all.have === "time") {
      const steps = stepsOf(row, Object.entries(best.parameters));
      tell(`A program moves the window on by the clock, ${steps} steps in ${number(all.minutes).toLocaleString("en")} minutes. No key of that time is lost; more keys than you said raise the rate.`);
    }
    if (best.kind === "exact_set") tell("It is never wrong about a key of those that will be asked for. The builder takes them all: members, and the others as excluded keys.");
    if (best.kind === "stacked") tell("The builder takes the frequent absent keys too, with how often each is asked for. The rate is that of all lookups of absent keys.");
    if (all.have === "unknown") tell("The number of keys is the size at first. The filter grows, and keeps its rate.");
    if (all.integers && best.kind === "exact_bits") tell("It has a bit for each whole number below the bound, and no wrong answer.");
    if (all.shared) tell("Threads insert with the “shared” calls. Processes open one file to share it (PETAL_OPEN_SHARED).");
    if (all.inPlace) tell("A program opens the file for writing and changes it where it lies; readers see the changes.");
    if (all.have === "all" && best.buildMemory > 0) tell(`To build it takes ${bytes(best.buildMemory)} beside the filter.`);
    const { universe } = request(all);
    const moreOf = { exact_bits: universe, exact_set: universe, stacked: Number(all.share) };
    const link = lead(best.kind, all.keys, {
      rate: all.goal === "rate" ? all.rate : String(Number((100 * best.falsePositiveRate).toPrecision(9))),
      more: moreOf[best.kind],
      non_members: best.kind === "stacked" ? all.non_members : "",
      use: useOf(row, all), ...(all.have === "time" ? { window: "time", minutes: all.minutes } : {}),
      set: best.kind === "stacked" ? "" : Object.entries(best.parameters).map(([name, value]) => `${name}=${value}`).join(","),
    });
    return [take, make("div", { class: "more" }, ...more, ...(isSized(best, all) ? [link] : []))];
  }

  /** The rate as a sentence, as the calculator has it. */
  function rateOf({ kind, falsePositiveRate, parameters }, all) {
    const row = kinds.get(kind);
    if (!["grow", "age"].some((one) => row.capabilities.includes(one))) return absent(falsePositiveRate);
    const rate = all.goal === "rate" ? Number((Number(all.rate) / 100).toPrecision(12)) : falsePositiveRate;
    return wrong(petal, row, { kind, capacity: number(all.keys), falsePositiveRate: rate, parameters });
  }

  /** What the lines to copy do with the filter. */
  function useOf(row, all) {
    const use = all.shared ? "shared" : all.inPlace ? "file" : "";
    return usesOf(row).includes(use) ? use : "";
  }

  /** Whether the calculator's filter is the planner's: it knows nothing of how often keys come. */
  function isSized({ kind, bytes, falsePositiveRate, parameters }, all) {
    if (kind === "exact_set" || kind === "stacked") return true;
    const rate = all.goal === "rate" ? Number(all.rate) / 100 : Number(falsePositiveRate.toPrecision(11));
    const spec = kind === "exact_bits" ? { bits: number(all.universe) } : { falsePositiveRate: rate };
    const time = all.have === "time" ? { clock: "steps" } : {};
    const capacity = all.have === "time" ? Math.ceil(number(all.keys) / stepsOf(kinds.get(kind), Object.entries(parameters))) : number(all.keys);
    return petal.size({ kind, capacity, parameters: { ...parameters, ...time }, ...spec }).bytes === bytes;
  }

  /** The way on to the calculator, which has lines to copy. */
  function lead(kind, keys, more) {
    const settings = Object.entries({ tab: "size", kind, keys, ...more }).filter(([, value]) => value);
    return make("p", {}, make("a", { href: `#${new URLSearchParams(settings)}` }, `Lines to copy for ${kind}`));
  }

  function fillTable(fits, recommended) {
    const body = $("#proposals tbody");
    $("#proposals").hidden = $("#proposals-order").hidden = fits.length === 0;
    // Only kinds that are built from all keys take memory for that.
    $("#proposals").classList.toggle("unbuilt", fits.every(({ buildMemory }) => buildMemory === 0));
    const groupOf = ({ kind }) => GROUPS.findLastIndex(([, all]) => all.every((one) => kinds.get(kind)?.capabilities.includes(one)));
    const first = fits.find(({ kind }) => kind === recommended);
    const groups = [...new Set(fits.map(groupOf))].sort((a, b) => a - b);
    // The group of the recommended kind comes first.
    if (first) groups.sort((a, b) => Number(b === groupOf(first)) - Number(a === groupOf(first)));
    body.replaceChildren(...groups.flatMap((group) => [
      make("tr", { class: "group" }, make("th", { scope: "rowgroup", colspan: 7 }, GROUPS[group][0])),
      ...fits.filter((fit) => groupOf(fit) === group).map((fit) => row(fit, fit.kind === recommended)),
    ]));
  }

  function row(fit, isBest) {
    const { kind, bitsPerKey, falsePositiveRate, linesPerLookup, buildMemory, parameters } = fit;
    const { capabilities, isInPlace } = kinds.get(kind);
    const also = [["merge", capabilities.includes("merge")], ["shared", capabilities.includes("insert_shared")], ["in place", isInPlace]];
    const setting = Object.entries(parameters).map(([name, value]) => ` ${name}=${value}`).join("");
    const cells = [
      bitsPerKey.toFixed(2), fit.bytes.toLocaleString("en"), percent(falsePositiveRate), linesPerLookup.toFixed(1),
      buildMemory ? bytes(buildMemory) : "–", also.filter(([, can]) => can).map(([name]) => name).join(", "),
    ];
    // The exact numbers, for programs that read the page.
    const data = { "data-kind": kind, "data-bits": bitsPerKey, "data-bytes": fit.bytes, "data-rate": falsePositiveRate, "data-lines": linesPerLookup };
    return make("tr", { class: isBest ? "best" : false, tabindex: 0, ...data },
      make("th", { scope: "row" }, kind + setting, isBest ? " (take this)" : ""), ...cells.map((text, i) => make("td", { class: { 1: "bytes", 3: "reads", 4: "build" }[i] ?? false }, text)));
  }

  function others(proposals) {
    const details = $("#others");
    details.hidden = proposals.length === 0;
    $("summary", details).textContent = `Why ${proposals.length} other kinds will not do`;
    $("ul", details).replaceChildren(...proposals.map(({ kind, reason }) => make("li", {}, make("strong", {}, kind), `: ${reason}`)));
  }

  /** Why a map will not do; null if it will. */
  function refusalOf({ capabilities, isInPlace, isMadeEmpty }, all) {
    const wishes = [
      [isWindow(all), "forgets no keys"], [all.remove && !capabilities.includes("remove"), "removes no keys"],
      [all.count, "counts no keys"], [all.merge && !capabilities.includes("merge"), "does not merge"],
      [all.shared && !capabilities.includes("insert_shared"), "has one writer"], [all.inPlace && !isInPlace && !capabilities.includes("replace"), "is not changed in place"],
      [all.have === "unknown" && isMadeEmpty, "does not grow"],
    ];
    return wishes.find(([is]) => is)?.[1] ?? null;
  }

  function showMaps(all) {
    const asked = MAPS[all.values];
    const capacity = number(all.keys);
    const valueBits = number(all.valueBits);
    const refused = asked.map(([kind]) => [kind, refusalOf(kinds.get(kind), all)]);
    if (refused.every(([, reason]) => reason)) {
      advice.replaceChildren(make("p", { class: "large" }, "No map does all of this."), make("div", { class: "more" }, ...refused.map(([kind, reason]) => make("p", {}, `${kind} ${reason}: give up one wish.`))));
      fillTable([], null);
      others([]);
      show(null);
      return;
    }
    const rows = asked.filter((_, i) => !refused[i][1]).map(([kind, why]) => {
      const parameters = kinds.get(kind).parameters.some(({ name }) => name === "value_bits") ? { value_bits: valueBits } : {};
      // `retrieval` has no rate: it knows no key.
      const rate = kind === "retrieval" ? {} : { falsePositiveRate: Number(all.rate) / 100 };
      return { kind, why, size: petal.size({ kind, capacity, parameters, ...rate }, capacity) };
    });
    const [{ kind, why, size }, ...more] = rows;
    const text = ({ size }) => `${bytes(size.bytes)}, ${((8 * size.bytes) / capacity).toFixed(2)} bits a key`;
    advice.replaceChildren(
      make("p", { class: "large" }, "Take the map ", make("strong", {}, kind), `: ${text({ size })}.${kind === "retrieval" ? "" : ` ${absent(size.falsePositiveRate).replace("a “maybe”", "a value")}`}`),
      make("div", { class: "more" }, make("p", {}, `It gives ${why}.`),
        ...more.map((row) => make("p", {}, `Or ${row.kind}: ${text(row)}. It gives ${row.why}.`)),
        make("p", {}, "In C maps have a header of their own: petal_map.h."),
        lead(kind, all.keys, { rate: all.rate, more: valueBits, use: useOf(kinds.get(kind), all) })),
    );
    fillTable([], null);
    others([]);
    show(null);
  }

  shows.push(
    slider($("#keys-slider"), $("#keys"), KEYS, update),
    slider($("#rate-slider"), $("#rate"), RATES, update, 100),
    slider($("#memory-slider"), $("#memory"), MEMORY, update),
  );
  form.addEventListener("input", (event) => {
    if (!event.target.closest(".slide")) update();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  return { read: (all) => write(all), update };
}

/** A whole number out of a field; what is none is refused by the library. */
export function number(text) {
  const value = Number(text);
  if (text.trim() === "" || !Number.isInteger(value) || value < 1) throw new Error(`“${text}” is not a whole number from 1 on`);
  return value;
}
