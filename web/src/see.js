// See: a small filter whose payload is shown, bit by bit, as keys come.
import { fuseReader, GOLDEN, mix, mulhigh, numberAt, ribbonReader, wrap } from "./readers.js";
import { $, make, percent } from "./tools.js";

const WORDS = ("apple banana cherry date elder fig grape hazel iris juniper kiwi lemon mango nectarine olive peach quince rose sage thyme " +
  "umber vanilla walnut yarrow zinnia almond basil clover daisy endive fennel ginger hyssop ivy jasmine kale lilac maple nettle orchid").split(" ");

/** The most cells of a lookup that have numbers. */
const MOST_NUMBERS = 24;

/** The places of set bits in bytes. */
function bitsOf(bytes, from = 0, count = bytes.length * 8 - from) {
  const all = [];
  for (let i = from; i < from + count; i++) if ((bytes[i >> 3] >> (i & 7)) & 1) all.push(i - from);
  return all;
}

/**
 * Each kind that is shown: its spec, what it is, and how its payload lies. `cells` gives groups of cells: their values,
 * and whether they are numbers. `places` gives the cells of a key, found by asking the library where it puts the key.
 */
const KINDS = {
  bloom: {
    spec: { kind: "bloom", bits: 512, hashes: 4 },
    what: "512 bits. A key sets 4 of them, anywhere.",
    cells: (bytes, { bits }) => [{ name: "512 bits", values: values(bytes, 1, bits) }],
    places: (shown, key) => setBits(shown, key),
    one: "bit", empty: "is 0", taken: "was set by",
  },
  blocked: {
    spec: { kind: "blocked", bits: 1024, hashes: 4 },
    what: "2 blocks of 512 bits. A key goes to one block, one line of the processor’s cache, and sets 4 bits in it.",
    cells: (bytes) => split(values(bytes, 1, 1024), 512, (i) => `block ${i}`),
    places: (shown, key) => setBits(shown, key),
    one: "bit", empty: "is 0", taken: "was set by",
  },
  counting: {
    spec: { kind: "counting", bits: 1024, hashes: 4, parameters: { counter_bits: 4 } },
    what: "256 counters of 4 bits. A key adds 1 to 4 of them; a removal subtracts 1.",
    cells: (bytes) => [{ name: "256 counters", values: values(bytes, 4, 256), numbers: true }],
    places: (shown, key) => [...new Set(setBits(shown, key).map((bit) => bit >> 2))],
    one: "counter", empty: "is 0", taken: "was raised by",
  },
  cuckoo: {
    spec: { kind: "cuckoo", bits: 512, capacity: 60, parameters: { fingerprint_bits: 8, bucket_slots: 4 } },
    what: "16 buckets of 4 slots. A key leaves a fingerprint of 8 bits, in one of two buckets.",
    cells: (bytes) => split(values(bytes, 8, 64), 4, (i) => `bucket ${i}`, { numbers: true, hex: true }),
    fingerprint: true,
  },
  scalable: {
    spec: { kind: "scalable", capacity: 12, falsePositiveRate: 0.001, parameters: { level: "bloom" } },
    what: "A chain of Bloom filters. When a level is full, a larger one with a lower rate comes into use.",
    cells: (bytes, { bits, first }) => levels(bits, first).map(([from, size], i) => ({ name: `level ${i}: ${size} bits`, values: values(bytes.subarray(from / 8), 1, size) })),
    levels: true,
    one: "bit", empty: "is 0", taken: "was set by",
  },
  fuse: {
    spec: { kind: "fuse", parameters: { fingerprint_bits: 8 } },
    what: "Cells of 8 bits. A key has three of them, whose exclusive or (⊕) is the key’s fingerprint. The filter is built from all keys at once: each key more is another build.",
    reader: fuseReader,
    one: "cell",
  },
  ribbon: {
    spec: { kind: "ribbon", parameters: { fingerprint_bits: 8 } },
    what: "Slots of 8 bits. A key has a row of 64 coefficients, 0 or 1, from a slot on. The exclusive or (⊕) of the slots with a 1 is the key’s fingerprint. The filter is built from all keys at once.",
    reader: ribbonReader,
    one: "slot",
  },
};

const hex = (value) => value.toString(16).padStart(2, "0");

function values(bytes, width, count) {
  return Array.from({ length: count }, (_, i) => numberAt(bytes, width, i));
}

function split(all, size, name, more = {}) {
  return Array.from({ length: all.length / size }, (_, i) => ({ name: name(i), values: all.slice(i * size, (i + 1) * size), ...more }));
}

/** Where the levels of `scalable` begin and how many bits each has, by docs/format.md: each is twice the one before. */
function levels(bits, first) {
  const all = [];
  for (let from = 0, size = first; from < bits; from += size, size *= 2) all.push([from, size]);
  return all;
}

/** The bits that a key sets in an empty filter of the same spec. */
function setBits({ petal, spec }, key) {
  const filter = petal.create(spec);
  filter.insert(key);
  const bits = bitsOf(filter.payload(), 0, Number(spec.bits));
  filter.free();
  return bits;
}

export function see(petal, changed) {
  const [select, field, answer, place] = ["#see-kind", "#see-key", "#see-answer", "#see-cells"].map((id) => $(id));
  select.append(...Object.keys(KINDS).map((kind) => make("option", {}, kind)));
  let shown = null;
  let filter = null;
  let keys = [];
  /** The cells as they were before the last key. */
  let before = null;
  /** The cells that the last lookup asked for. */
  let asked = null;

  function begin() {
    const kind = select.value;
    filter?.free();
    filter = KINDS[kind].reader ? petal.build(KINDS[kind].spec, []) : petal.create(KINDS[kind].spec);
    shown = { petal, kind, ...KINDS[kind], first: filter.info.bits };
    keys = [];
    before = null;
    asked = null;
    $("#see-what").textContent = shown.what;
    $("#see-remove").disabled = !filter.info.capabilities.includes("remove");
    answer.replaceChildren(make("p", {}, "The filter is empty. Insert a key and watch what changes; then look keys up."));
    show();
  }

  /** A built filter, read from the bytes of its image. */
  const reader = () => shown.reader(filter.save());

  function builtGroups() {
    const { cells } = reader();
    return cells.length === 0 ? [] : [{ name: `${cells.length} ${shown.one}s of 8 bits`, values: cells, numbers: true, hex: true, built: true }];
  }

  const groups = () => shown.reader ? builtGroups() : shown.cells(filter.payload(), { bits: filter.info.bits, first: shown.first });

  /** The groups of a key's cells: [group, cell, whether it is taken for this key]. */
  function placesOf(key) {
    const all = groups();
    if (shown.fingerprint) return bucketsOf(key, all);
    if (shown.reader) {
      const { places, found } = reader().find(filter.hash(key));
      return places.filter((cell) => cell < all[0]?.values.length).map((cell) => [0, cell, found]);
    }
    if (shown.levels) {
      // In the levels the hash of a key is mix(h): a Bloom filter of hashes shows where a level looks.
      const { hashes } = filter.info;
      const hash = mix(filter.hash(key));
      const step = 64;
      return all.flatMap(({ values }, group) => {
        const spec = { kind: "bloom", hash: "external", bits: values.length, hashes: Math.min(hashes + Math.floor((group * stepOf()) / step), 64) };
        const level = petal.create(spec);
        level.insertBatch(BigUint64Array.of(hash), { as: "hashes" });
        const bits = bitsOf(level.payload(), 0, values.length);
        level.free();
        return bits.map((cell) => [group, cell, values[cell] !== 0]);
      });
    }
    const size = all[0].values.length;
    return shown.places(shown, key).map((cell) => {
      const [group, at] = [Math.floor(cell / size), cell % size];
      return [group, at, all[group].values[at] !== 0];
    });
  }

  /** How many more bits each level sets, in 64ths: what a new filter has by docs/format.md. */
  const stepOf = () => Math.round(64 * Math.log2(1 / filter.parameters.tightening));

  /** The two buckets of a key, all their slots, and whether a slot has its fingerprint, by docs/format.md. */
  function bucketsOf(key, all) {
    const hash = filter.hash(key);
    const m = BigInt(all.length);
    const print = 1n + mulhigh(wrap(hash * GOLDEN), 255n);
    const first = mulhigh(hash, m);
    const second = (((2n * mulhigh(mix(print), m / 2n) + 1n - first) % m) + m) % m;
    return [...new Set([first, second])].flatMap((bucket) =>
      all[Number(bucket)].values.map((value, slot) => [Number(bucket), slot, value === Number(print), Number(print)]));
  }

  function insert(key) {
    before = groups();
    asked = null;
    let told;
    if (shown.reader) return rebuild(key);
    try {
      const isNew = filter.insert(key);
      keys.push(key);
      told = isNew ? `“${key}” is inserted.` : `“${key}” is inserted; the filter took it for known already.`;
    } catch (error) {
      if (error.status !== "full") throw error;
      told = `There is no room for “${key}”: ${error.message}.`;
    }
    const fresh = changes();
    answer.replaceChildren(make("p", {}, `${told} ${fresh === 0 ? "Nothing changed." : `${fresh} ${fresh === 1 ? "place" : "places"} changed.`}`));
    show();
  }

  /** A build from all keys and this one. */
  function rebuild(key) {
    const isNew = !keys.includes(key);
    if (isNew) keys.push(key);
    filter.free();
    filter = petal.build(shown.spec, keys);
    const [fresh, total] = [changes(), groups()[0].values.length];
    answer.replaceChildren(make("p", {}, `The filter is built from ${keys.length} ${keys.length === 1 ? "key" : "keys"}${isNew ? `, with “${key}”` : `: “${key}” was there already`}. ${fresh} of ${total} ${shown.one}s changed.`));
    show();
  }

  function changes() {
    const now = groups();
    return now.reduce((sum, { values }, group) => sum + values.filter((value, cell) => value !== (before?.[group]?.values[cell] ?? 0)).length, 0);
  }

  function look(key) {
    before = null;
    const found = filter.contains(key);
    const places = placesOf(key);
    // What is asked for has numbers, which stand in the cells and in the text; rows of many slots would have too many.
    const all = [...new Set(places.map(([group, cell]) => `${group}.${cell}`))];
    const isNumbered = all.length <= MOST_NUMBERS;
    asked = new Map(places.map(([group, cell, taken]) => [`${group}.${cell}`, { taken, number: isNumbered ? all.indexOf(`${group}.${cell}`) + 1 : undefined }]));
    const texts = [make("p", { class: "large" }, make("strong", {}, found ? "Maybe" : "No"),
      found ? (keys.includes(key) ? ": “" + key + "” was inserted." : ": but nobody inserted “" + key + "”. This “maybe” is wrong.") : `: “${key}” certainly was not inserted.`)];
    for (const one of explain(key, found, places)) {
      const [text, at] = Array.isArray(one) ? one : [one];
      const about = at && asked.get(`${at[0]}.${at[1]}`);
      texts.push(make("p", {}, ...(about?.number ? [make("span", { class: about.taken ? "number" : "number no" }, String(about.number))] : []), text));
    }
    answer.replaceChildren(...texts);
    show();
  }

  /** The slots that are combined, what they hold, and what comes out. */
  function explainBuilt(key, found) {
    if (keys.length === 0) return ["A filter of no keys says no to all."];
    const { cells, find, coefficients } = reader();
    const { places, slot, layer, sum, fingerprint } = find(filter.hash(key));
    if (places.length === 0) return ["The key has no row in any layer."];
    const end = found
      ? `That is the fingerprint of “${key}”${keys.includes(key) ? "" : ", by chance: one key in 256 has it"}.`
      : `The fingerprint of “${key}” is ${hex(fingerprint)}, so it was not among the keys of the build.`;
    if (shown.one === "cell") {
      return [`Its cells are ${places.map((place) => `${place} (${asked.get(`0.${place}`).number})`).join(", ")}: ${places.map((place) => hex(cells[place])).join(" ⊕ ")} = ${hex(sum)}. ${end}`];
    }
    const where = layer === 0 ? "the first layer" : `layer ${layer + 1}, for keys that the layer before has no place for`;
    const past = places.filter((place) => place >= cells.length);
    const rest = places.reduce((rest, place) => rest ^ (cells[place] ?? 0), sum);
    const more = past.length === 0 ? "" : ` ${past.length} of these lie past the last slot, which hold ${hex(rest)} together.`;
    return [`Its row begins in slot ${slot}, in ${where}. ${places.length} of ${coefficients} coefficients are 1: slots ${places.slice(0, 6).join(", ")}, … ${places.at(-1)}.${more}`,
      `The exclusive or of these slots is ${hex(sum)}. ${end}`];
  }

  /** Why the answer is what it is. */
  function explain(key, found, places) {
    const nameOf = ([group, cell]) => (shown.cells.length && groups().length > 1 ? `${groups()[group].name.split(":")[0]}, ${shown.one} ${cell}` : `${shown.one} ${cell}`);
    if (shown.reader) return explainBuilt(key, found);
    if (shown.fingerprint) {
      const print = places[0][3];
      const buckets = [...new Set(places.map(([group]) => group))].join(" and ");
      const isBucket = (bucket) => places.some(([group]) => group === bucket);
      const others = keys.filter((other) => {
        const all = placesOf(other);
        return other !== key && all[0][3] === print && all.some(([group]) => isBucket(group));
      });
      const why = found && !keys.includes(key) && others.length ? ` “${others.join("” and “")}” left the same fingerprint.` : "";
      return [`The fingerprint of “${key}” is ${print.toString(16).padStart(2, "0")}. It may lie in the buckets ${buckets}, and ${found ? "it does" : "it does not"}.${why}`];
    }
    if (shown.levels) {
      const byLevel = groups().map((_, group) => places.filter(([one]) => one === group));
      return byLevel.map((all, level) => {
        const lacking = all.filter(([, , taken]) => !taken);
        if (lacking.length === 0) return `Level ${level}: all ${all.length} bits are 1, so it may be there.`;
        return [`Level ${level}: bit ${lacking[0][1]} is 0, so it is not there.`, lacking[0]];
      });
    }
    const lacking = places.filter(([, , taken]) => !taken);
    const capital = (place) => `${nameOf(place)[0].toUpperCase()}${nameOf(place).slice(1)}`;
    if (lacking.length > 0) return lacking.map((one, i) => [`${capital(one)} ${shown.empty}.${i === 0 ? " An insertion of the key would have changed it." : ""}`, one]);
    const owners = new Map(keys.map((other) => [other, new Set(placesOf(other).map(([group, cell]) => `${group}.${cell}`))]));
    return places.map((one) => {
      const by = keys.filter((other) => owners.get(other).has(`${one[0]}.${one[1]}`));
      return [`${capital(one)} ${shown.taken} ${[...new Set(by)].map((other) => `“${other}”`).slice(0, 4).join(", ") || "keys that were removed or refused"}.`, one];
    });
  }

  function show() {
    const all = groups();
    place.replaceChildren(...all.map(({ name, values, numbers, hex: isHex, built }, group) => {
      const cells = values.map((value, cell) => {
        const about = asked?.get(`${group}.${cell}`);
        const state = about?.taken;
        const isFresh = before !== null && value !== (before[group]?.values[cell] ?? 0);
        const kind = state === true ? "asked" : state === false ? (numbers && isHex && value !== 0 ? "taken lacking" : "lacking") : isFresh ? "fresh" : value !== 0 ? "taken" : "";
        return make("i", { class: kind || false, "data-number": about?.number }, numbers ? (isHex ? (value === 0 && !built ? "·" : hex(value)) : String(value)) : "");
      });
      const taken = values.filter((value) => value !== 0).length;
      const text = built ? name : `${name}: ${taken} of ${values.length} taken`;
      return make("div", { class: "block", "data-group": group }, make("h3", {}, text),
        make("div", { class: `cells${numbers ? " numbers" : ""}`, role: "img", "aria-label": text, style: numbers ? `--cell: ${isHex ? "2.2rem" : "1.4rem"}` : false }, ...cells));
    }));
    const { fill, falsePositiveRate } = filter.statistics();
    const size = shown.reader ? `${keys.length ? (8 * filter.payload().length / keys.length).toFixed(1) : 0} bits a key, more than in large filters.` : `Taken: ${percent(fill).replace("never", "0 %")}.`;
    $("#see-state").textContent = `${keys.length} keys. ${size} Of absent keys, ${percent(falsePositiveRate)} ${falsePositiveRate >= 1e-5 ? "get" : "gets"} a “maybe” now.`;
    $("#see-keys").textContent = keys.join(", ") || "none";
    changed({ kind: select.value === "bloom" ? undefined : select.value });
  }

  const key = () => field.value;
  select.addEventListener("change", begin);
  $("#see-form").addEventListener("submit", (event) => {
    event.preventDefault();
    insert(key());
  });
  $("#see-look").addEventListener("click", () => look(key()));
  $("#see-remove").addEventListener("click", () => {
    before = groups();
    asked = null;
    // Who removes a key that was never inserted may take another key away.
    if (!keys.includes(key())) {
      answer.replaceChildren(make("p", {}, `“${key()}” was not inserted, and only such keys may be removed.`));
      return show();
    }
    filter.remove(key());
    keys.splice(keys.indexOf(key()), 1);
    answer.replaceChildren(make("p", {}, `“${key()}” is removed. ${changes()} places changed.`));
    show();
  });
  $("#see-ten").addEventListener("click", () => {
    const next = WORDS.filter((word) => !keys.includes(word)).slice(0, 10);
    for (const word of next) insert(word);
    if (next.length === 0) answer.replaceChildren(make("p", {}, "There are no more words."));
  });
  $("#see-find").addEventListener("click", () => {
    for (let i = 0; i < 20_000; i++) {
      const word = `word ${i}`;
      if (keys.includes(word) || !filter.contains(word)) continue;
      field.value = word;
      return look(word);
    }
    answer.replaceChildren(make("p", {}, "None of 20,000 other words is taken for known. Insert more keys first."));
  });
  $("#see-clear").addEventListener("click", begin);
  return {
    read: ({ kind }) => {
      select.value = Object.hasOwn(KINDS, kind) ? kind : "bloom";
      begin();
    },
    update: () => show(),
  };
}
