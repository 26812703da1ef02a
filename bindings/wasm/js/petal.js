// Petal over a module of WebAssembly: filters, maps and plans. load.js and load-node.js find the module.

/** The names of all statuses: that of -1 is the first. */
const STATUSES = [
  "internal", "null", "struct_size", "unknown_value", "out_of_range", "false_positive_rate", "contradiction",
  "too_large", "out_of_memory", "offsets", "buffer_too_small", "misaligned", "unsupported", "incompatible",
  "external_hash", "secret_missing", "secret_mismatch", "foreign", "truncated", "corrupt", "newer_version", "unclean", "io",
  "not_found", "access_denied", "no_space", "locked", "mapped_path", "cancelled", "callback", "full",
  "unsupported_by_handle", "unsupported_by_build",
];

/** What went wrong: `status` for programs, `code` as in C, `message` for people. */
export class PetalError extends Error {
  constructor(code, message, done) {
    super(message);
    this.name = "PetalError";
    this.code = code;
    this.status = STATUSES[-code - 1] ?? "internal";
    /** How many keys of a batch were taken before the error. */
    this.done = done ?? 0;
  }
}

const OUT_OF_RANGE = -5;
const UNSUPPORTED = -13;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A whole number of 64 bits, as WebAssembly takes it. */
function whole(value, name) {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  if (typeof value === "bigint" && BigInt.asUintN(64, value) === value) return value;
  if (typeof value === "number" || typeof value === "bigint") {
    throw new PetalError(OUT_OF_RANGE, `${name} = ${value} is not a whole number from 0 to 2^64 - 1`);
  }
  throw new TypeError(`${name} is a whole number: a number or a BigInt`);
}

/** A fraction. */
function real(value, name) {
  if (typeof value !== "number") throw new TypeError(`${name} is a number`);
  return value;
}

function keyType() {
  return new TypeError("a key is a string, a Uint8Array or a BigInt; the key of the number n is BigInt(n)");
}

/** Bytes in base64, without a call that only browsers or only Node.js have. */
function base64(bytes) {
  let text = "";
  // Not all bytes in one call, which takes them as arguments.
  for (let i = 0; i < bytes.length; i += 0x3000) text += String.fromCharCode(...bytes.subarray(i, i + 0x3000));
  return btoa(text);
}

/** A message of the module, with digits in the place of the bits of numbers. */
function withDigits(message) {
  return message.replace(/\x02([0-9a-f]+)\x03/g, (_, bits) => {
    const [number] = new Float64Array(BigUint64Array.of(BigInt(`0x${bits}`)).buffer);
    if (Object.is(number, -0)) return "-0";
    const size = Math.abs(number);
    if (size === Infinity) return number < 0 ? "-inf" : "inf";
    if (number === 0 || Number.isNaN(number) || (size >= 1e-4 && size < 1e15)) return String(number);
    return number.toExponential().replace("e+", "e");
  });
}

/** Refuses names that nobody reads, which are mistakes. */
function onlyKnown(object, known, what) {
  for (const name of Object.keys(object)) {
    if (!known.includes(name)) throw new TypeError(`${name} is not a field of ${what}; its fields are ${known.join(", ")}`);
  }
}

/** How many bytes the memory for single keys has. */
const SCRATCH = 4096;

const VERBS = { contains: 0, insert: 1, remove: 2, count: 3, put: 4, replace: 5, exclude: 6, frequent: 7 };

/** Memory of the module, addresses and calls: what the classes below share. */
class Engine {
  constructor(instance) {
    this.calls = instance.exports;
    this.stopped = null;
    this.capabilities = [];
    this.answersAt = this.calls.petal_answers() >>> 0;
    this.scratch = this.allocate(SCRATCH);
    this.freed = new FinalizationRegistry((handle) => {
      // There is nobody to report an error to.
      if (!this.stopped) this.calls.petal_free(handle);
    });
  }

  /** All memory, as bytes. It is another array after the memory has grown. */
  get bytes() {
    const { buffer } = this.calls.memory;
    if (this.view?.buffer !== buffer) this.view = new Uint8Array(buffer);
    return this.view;
  }

  /** The numbers that the last call answered. */
  get answers() {
    return new BigUint64Array(this.calls.memory.buffer, this.answersAt, 24);
  }

  get reals() {
    return new Float64Array(this.calls.memory.buffer, this.answersAt, 24);
  }

  /** A text of which two answers say where it lies. */
  text(place) {
    const [start, length] = this.answers.subarray(place, place + 2);
    return this.read(Number(start), Number(length));
  }

  read(start, length) {
    return decoder.decode(this.bytes.slice(start, start + length));
  }

  /** Calls the module. A number below 0 is an error, and a module that fails otherwise is never called again. */
  call(name, ...values) {
    const number = this.attempt(name, values);
    if (number < 0) throw this.failure(number);
    return number;
  }

  attempt(name, values) {
    if (this.stopped) throw this.stopped;
    const call = this.calls[name];
    if (!call) throw new PetalError(-33, `${name} is not in this module: it only reads`);
    try {
      return call(...values);
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError) && !(error instanceof RangeError)) throw error;
      // What lies in its memory is of no more use.
      this.stopped = new PetalError(-1, `the module stopped (${error.message}); load another one`);
      throw this.stopped;
    }
  }

  failure(number, done) {
    const start = this.calls.petal_message() >>> 0;
    return new PetalError(number, withDigits(this.read(start, Number(this.answers[0]))), done);
  }

  allocate(length) {
    const start = this.calls.petal_allocate(length) >>> 0;
    if (start === 0) throw new PetalError(-9, `${length} bytes could not be had`);
    return start;
  }

  /** Calls `body` with the address of a copy of some bytes. */
  withBytes(bytes, body) {
    return this.withRoom(bytes.byteLength, (start) => {
      this.bytes.set(bytes, start);
      return body(start);
    });
  }

  /** Calls `body` with the address of memory. */
  withRoom(length, body) {
    if (this.stopped) throw this.stopped;
    const start = this.allocate(length);
    try {
      return body(start);
    } finally {
      if (!this.stopped) this.calls.petal_release(start, length);
    }
  }

  withText(text, body) {
    const bytes = encoder.encode(text);
    return this.withBytes(bytes, (start) => body(start, bytes.length));
  }

  /** Calls `body` with the address and the length of a key that is no number. */
  withKey(key, body) {
    if (typeof key === "string" && key.length * 3 <= SCRATCH) {
      const room = this.bytes.subarray(this.scratch, this.scratch + SCRATCH);
      return body(this.scratch, encoder.encodeInto(key, room).written);
    }
    const bytes = typeof key === "string" ? encoder.encode(key) : key;
    if (!(bytes instanceof Uint8Array)) throw keyType();
    if (bytes.length > SCRATCH) return this.withBytes(bytes, (start) => body(start, bytes.length));
    this.bytes.set(bytes, this.scratch);
    return body(this.scratch, bytes.length);
  }

  /** Calls a function for one key, whose second form takes a number. */
  one(name, handle, key) {
    if (typeof key === "bigint") return this.call(`${name}_u64`, handle, whole(key, "a key"));
    return this.withKey(key, (start, length) => this.call(name, handle, start, length));
  }

  /** Many keys as the module takes them: their form, their bytes, offsets if there are some, and their number. */
  pack(keys, as, isDigests) {
    if (as !== undefined && as !== "hashes") throw new TypeError('the keys of a batch are as "hashes" or as they are');
    if (keys instanceof BigUint64Array) {
      const bytes = new Uint8Array(keys.buffer, keys.byteOffset, keys.byteLength);
      return { form: as ? 2 : 1, bytes, offsets: null, count: keys.length };
    }
    if (as) throw new TypeError("hashes are a BigUint64Array");
    if (!Array.isArray(keys)) throw new TypeError("keys are a BigUint64Array or an array");
    const parts = keys.map((key) => {
      if (typeof key === "string") return encoder.encode(key);
      if (typeof key === "bigint") return new Uint8Array(BigUint64Array.of(whole(key, "a key")).buffer);
      if (key instanceof Uint8Array) return key;
      throw keyType();
    });
    const offsets = new BigUint64Array(parts.length + 1);
    let length = 0;
    parts.forEach((part, i) => {
      length += part.length;
      offsets[i + 1] = BigInt(length);
    });
    const bytes = new Uint8Array(length);
    parts.forEach((part, i) => bytes.set(part, Number(offsets[i])));
    if (!isDigests || parts.length === 0) return { form: 0, bytes, offsets, count: parts.length };
    if (parts.some((part) => part.length !== parts[0].length)) {
      throw new PetalError(OUT_OF_RANGE, "the digests of a batch have different lengths");
    }
    return { form: 3, bytes, offsets: null, count: parts.length };
  }

  /** Runs a verb on many keys. `given` are values to give with them; otherwise `takes` says whether values come. */
  many(verb, handle, keys, { as, isDigests = false, asks = true, given = null, takes = false } = {}) {
    const { form, bytes, offsets, count } = this.pack(keys, as, isDigests);
    const up = (length) => (length + 7) & ~7;
    const parts = [bytes.length, offsets?.byteLength ?? 0, given || takes ? 8 * count : 0, asks ? count : 0].map(up);
    return this.withRoom(parts.reduce((a, b) => a + b), (start) => {
      const [atOffsets, atValues, atAnswers] = [0, 1, 2].map((i) => start + parts.slice(0, i + 1).reduce((a, b) => a + b));
      const memory = this.bytes;
      memory.set(bytes, start);
      if (offsets) memory.set(new Uint8Array(offsets.buffer), atOffsets);
      if (given) memory.set(new Uint8Array(given.buffer, given.byteOffset, given.byteLength), atValues);
      if (asks) memory.fill(0, atAnswers, atAnswers + count);
      const number = this.attempt("petal_many", [
        VERBS[verb], handle, form, start, bytes.length, atOffsets, count,
        asks ? atAnswers : 0, given || takes ? atValues : 0,
      ]);
      const [trueCount, done] = this.answers.subarray(0, 2).map((number) => number);
      if (number < 0) throw this.failure(number, Number(done));
      return {
        trueCount: Number(trueCount),
        answers: asks ? this.bytes.slice(atAnswers, atAnswers + count) : null,
        values: takes ? new BigUint64Array(this.calls.memory.buffer.slice(atValues, atValues + 8 * count)) : null,
      };
    });
  }

  /** The names of the capabilities in a set. */
  namesOf(set) {
    return this.allCapabilities().filter(([, bit]) => (set & bit) !== 0n).map(([name]) => name);
  }

  allCapabilities() {
    if (this.capabilities.length === 0) {
      for (let i = 0; this.call("petal_capability", i) === 0; i++) this.capabilities.push([this.text(0), this.answers[2]]);
    }
    return this.capabilities;
  }
}

/** What filters, maps and builders have in common: a handle that is given back. */
class Held {
  #handle;
  #engine;

  constructor(engine, handle) {
    this.#engine = engine;
    this.#handle = handle;
    engine.freed.register(this, handle, this);
  }

  /** What has no bytes is refused: `JSON.stringify` would otherwise write {} for it. */
  toJSON() {
    throw new TypeError(`a ${this.constructor.name} has no form in JSON`);
  }

  /** For this file only. */
  get _engine() {
    return this.#engine;
  }

  get _handle() {
    return this.#handle;
  }

  /** Gives the memory back. Later calls fail, but for `free` itself. */
  free() {
    if (this.#handle < 0) return;
    const handle = this.#handle;
    this.#handle = -1;
    this.#engine.freed.unregister(this);
    if (!this.#engine.stopped) this.#engine.call("petal_free", handle);
  }
}

if (typeof Symbol.dispose === "symbol") {
  Held.prototype[Symbol.dispose] = Held.prototype.free;
}

/** What filters and maps have in common. */
class Image extends Held {
  /** What the image says of itself. Counts above 2^53 are rounded. */
  get info() {
    const engine = this._engine;
    engine.call("petal_describe", this._handle);
    const numbers = engine.answers.slice();
    return {
      kind: engine.text(0),
      hash: engine.text(2),
      seed: numbers[4],
      layoutVersion: Number(numbers[5]),
      capabilities: engine.namesOf(numbers[6]),
      hashes: Number(numbers[7]),
      capacity: Number(numbers[8]),
      insertions: Number(numbers[9]),
      bits: Number(numbers[10]),
      bytes: Number(numbers[11]),
      falsePositiveRate: engine.reals[12],
      isUnclean: numbers[13] !== 0n,
      canHash: numbers[14] !== 0n,
      isMap: numbers[17] !== 0n,
    };
  }

  /** A copy of the payload's bytes: what lies between the header and the checksums. */
  payload() {
    const engine = this._engine;
    engine.call("petal_describe", this._handle);
    const [start, length] = engine.answers.subarray(15, 17);
    return engine.bytes.slice(Number(start), Number(start) + Number(length));
  }

  /** The values of the kind's parameters. */
  get parameters() {
    const engine = this._engine;
    const all = {};
    for (let i = 0; engine.call("petal_parameter", this._handle, i) === 0; i++) all[engine.text(0)] = engine.reals[2];
    return all;
  }

  /** How full it is, and its present rate. Reads the whole payload. */
  statistics() {
    const engine = this._engine;
    engine.call("petal_statistics", this._handle);
    const [fill, falsePositiveRate, keys] = engine.reals;
    return { fill, falsePositiveRate, keys: keys < 0 ? null : keys, saturated: Number(engine.answers[3]) };
  }

  /** The exact rate to expect with `keys` distinct keys. */
  expectedFalsePositiveRate(keys) {
    this._engine.call("petal_expected_rate", this._handle, whole(keys, "keys"));
    return this._engine.reals[0];
  }

  /** Checks the payload again. */
  verify() {
    this._engine.call("petal_verify", this._handle);
  }

  clear() {
    this._engine.call("petal_clear", this._handle);
  }

  /** Makes it the union of both. */
  merge(other) {
    if (!(other instanceof Image) || other._engine !== this._engine) {
      throw new TypeError("merge takes a filter or a map of the same module");
    }
    this._engine.call("petal_merge", this._handle, other._handle);
  }

  /** The image: bytes that every other library of Petal opens. */
  save() {
    const engine = this._engine;
    engine.call("petal_save", this._handle);
    const [start, length] = Array.from(engine.answers.subarray(0, 2), Number);
    const image = engine.bytes.slice(start, start + length);
    engine.calls.petal_release(start, length);
    return image;
  }

  /** The image in base64, for `JSON.stringify`: `Uint8Array.from(atob(text), (one) => one.charCodeAt(0))` is its bytes. */
  toJSON() {
    return base64(this.save());
  }
}

/** A filter: `contains` is never false for a key that was inserted. */
export class Filter extends Image {
  #isDigests;

  #many(verb, keys, options) {
    this.#isDigests ??= this.info.hash === "digest";
    return this._engine.many(verb, this._handle, keys, { ...options, isDigests: this.#isDigests });
  }

  /** Whether a key may have been inserted; false is certain. */
  contains(key) {
    return this._engine.one("petal_contains", this._handle, key) === 1;
  }

  /** The hash of a key, for `{ as: "hashes" }` of filters with the same hash function and seed or secret. */
  hash(key) {
    const bytes = typeof key === "bigint" ? new Uint8Array(BigUint64Array.of(whole(key, "a key")).buffer) : key;
    this._engine.withKey(bytes, (start, length) => this._engine.call("petal_spec_hash", this._handle, start, length));
    return this._engine.answers[0];
  }

  /** `contains` for many keys: 1 or 0 for each. `{ as: "hashes" }` takes hashes. */
  containsBatch(keys, { as } = {}) {
    return this.#many("contains", keys, { as }).answers;
  }

  /** Inserts a key; true if it certainly was not there before. */
  insert(key) {
    return this._engine.one("petal_insert", this._handle, key) === 1;
  }

  /** Inserts many keys. */
  insertBatch(keys, { as } = {}) {
    this.#many("insert", keys, { as, asks: false });
  }

  /** Removes a key that was inserted; false if it certainly was absent. */
  remove(key) {
    return this.removeBatch([key])[0] === 1;
  }

  removeBatch(keys, { as } = {}) {
    return this.#many("remove", keys, { as }).answers;
  }

  /** How often a key was inserted, or more, by mistake. */
  count(key) {
    return this.countBatch([key])[0];
  }

  countBatch(keys, { as } = {}) {
    return this.#many("count", keys, { as, takes: true }).values;
  }

  /** Lets time pass, for kinds that forget their oldest keys. */
  advance(steps = 1) {
    this._engine.call("petal_advance", this._handle, whole(steps, "steps"));
  }
}

/** A map from keys to whole numbers. */
export class PetalMap extends Image {
  /** The value of a key, or undefined if the key certainly is absent. */
  get(key) {
    return this._engine.one("petal_contains", this._handle, key) === 1 ? this._engine.answers[0] : undefined;
  }

  /** The values of many keys: `found` has 1 or 0 for each, `values` 0 for those that are absent. */
  getBatch(keys, { as } = {}) {
    const { answers, values } = this._engine.many("contains", this._handle, keys, { as, takes: true });
    return { found: answers, values };
  }

  /** Gives a key a value, for kinds that are made empty. */
  put(key, value) {
    return this.putBatch([key], [value])[0] === 1;
  }

  putBatch(keys, values, { as } = {}) {
    return this._engine.many("put", this._handle, keys, { as, given: valuesOf(keys, values) }).answers;
  }

  /** Gives a key that is there another value; false if the key certainly is absent. */
  replace(key, value) {
    return this.replaceBatch([key], [value])[0] === 1;
  }

  replaceBatch(keys, values, { as } = {}) {
    return this._engine.many("replace", this._handle, keys, { as, given: valuesOf(keys, values) }).answers;
  }
}

function valuesOf(keys, values) {
  const all = values instanceof BigUint64Array ? values : BigUint64Array.from(values, (value) => whole(value, "a value"));
  if (all.length !== keys.length) throw new PetalError(-11, `${keys.length} keys have ${all.length} values`);
  return all;
}

function weightsOf(keys, weights) {
  const all = weights instanceof Float64Array ? weights : Float64Array.from(weights, (weight) => real(weight, "a weight"));
  if (all.length !== keys.length) throw new PetalError(-11, `${keys.length} keys have ${all.length} weights`);
  return all;
}

/** Collects keys; `finish` makes a filter of any kind, also of those that need all keys together. */
export class Builder extends Held {
  add(key) {
    this._engine.one("petal_insert", this._handle, key);
  }

  addBatch(keys, { as } = {}) {
    this._engine.many("insert", this._handle, keys, { as, asks: false });
  }

  /** Has the filter say of this key that it is not there, for `exact_set`. */
  exclude(key) {
    this.excludeBatch([key]);
  }

  excludeBatch(keys, { as } = {}) {
    this._engine.many("exclude", this._handle, keys, { as, asks: false });
  }

  /** Says that the excluded keys are a whole universe: those that are members too are members. */
  excludeAllButMembers() {
    this._engine.call("petal_exclude_all_but_members", this._handle);
  }

  /** Gives a key that is no member but is asked for often, for `stacked`. */
  frequent(key, weight = 1) {
    this.frequentBatch([key], [weight]);
  }

  /** Without weights each key has the weight 1. */
  frequentBatch(keys, weights, { as } = {}) {
    const given = weights === undefined ? null : weightsOf(keys, weights);
    this._engine.many("frequent", this._handle, keys, { as, asks: false, given });
  }

  /** Makes the next filter `old` and, after it, what changes of its answers; for `exact_set` with partitions. */
  update(old) {
    if (!(old instanceof Filter) || old._engine !== this._engine) throw new TypeError("update takes a filter of the same module");
    this._engine.call("petal_update", this._handle, old._handle);
  }

  finish() {
    return new Filter(this._engine, this._engine.call("petal_finish", this._handle));
  }
}

/** Collects keys with their values; `finish` makes a map of any kind. */
export class MapBuilder extends Held {
  put(key, value) {
    this.putBatch([key], [value]);
  }

  putBatch(keys, values, { as } = {}) {
    this._engine.many("put", this._handle, keys, { as, asks: false, given: valuesOf(keys, values) });
  }

  finish() {
    return new PetalMap(this._engine, this._engine.call("petal_finish", this._handle));
  }
}

/** A number as every library of Petal reads it. */
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

const SPEC = ["kind", "capacity", "falsePositiveRate", "bits", "hashes", "hash", "seed", "secret", "parameters"];
const BUILD = ["as", "exclude", "universe", "frequent", "weights"];
const REQUEST = ["keys", "falsePositiveRate", "memory", "capabilities", "isStatic", "inPlace", "universe", "times",
  "frequent", "non_members"];

/** A module that was loaded. All filters of a module share its memory. */
export class Petal {
  #engine;

  /** Over an instance of a module. `load` is the usual way. */
  constructor(instance, { hasSimd = false } = {}) {
    this.#engine = new Engine(instance);
    this.hasSimd = hasSimd;
  }

  /** Opens an image: a filter or a map. The bytes are copied and checked. */
  open(bytes, { secret } = {}) {
    if (!(bytes instanceof Uint8Array)) throw new TypeError("an image is a Uint8Array");
    const engine = this.#engine;
    const open = (at) => engine.withBytes(bytes, (start) => engine.call("petal_open", start, bytes.length, at));
    const handle = secret === undefined ? open(0) : engine.withBytes(secretOf(secret), open);
    engine.call("petal_describe", handle);
    return engine.answers[17] === 1n ? new PetalMap(engine, handle) : new Filter(engine, handle);
  }

  /** Opens the image of a filter, and refuses that of a map. */
  openFilter(bytes, options) {
    return opened(this.open(bytes, options), Filter, "a map", "openMap");
  }

  /** Opens the image of a map, and refuses that of a filter. */
  openMap(bytes, options) {
    return opened(this.open(bytes, options), PetalMap, "a filter", "openFilter");
  }

  /** An empty filter. */
  create(spec = {}) {
    return new Filter(this.#engine, this.#withSpec(spec, (handle) => this.#engine.call("petal_create", handle, 0)));
  }

  /** An empty map, of a kind that is made empty. */
  createMap(spec) {
    return new PetalMap(this.#engine, this.#withSpec(spec, (handle) => this.#engine.call("petal_create", handle, 1)));
  }

  builder(spec = {}) {
    return new Builder(this.#engine, this.#withSpec(spec, (handle) => this.#engine.call("petal_builder", handle, 0)));
  }

  mapBuilder(spec = {}) {
    return new MapBuilder(this.#engine, this.#withSpec(spec, (handle) => this.#engine.call("petal_builder", handle, 1)));
  }

  /**
   * A filter of exactly these keys. `exclude` has keys of which the filter says that they are not there; `universe` the
   * same, but members may be among its keys. `frequent` has keys that are asked for often though they are no members.
   */
  build(spec, keys, options = {}) {
    onlyKnown(options, BUILD, "the options of a build");
    const { as, exclude, universe, frequent, weights } = options;
    if (exclude !== undefined && universe !== undefined) {
      throw new PetalError(-7, "exclude and universe: give one of them");
    }
    if (weights !== undefined && frequent === undefined) throw new TypeError("weights belong to frequent keys");
    const builder = this.builder(spec);
    try {
      builder.addBatch(keys, { as });
      if (universe !== undefined) builder.excludeAllButMembers();
      const excluded = universe ?? exclude;
      if (excluded !== undefined) builder.excludeBatch(excluded, { as });
      if (frequent !== undefined) builder.frequentBatch(frequent, weights, { as });
      return builder.finish();
    } finally {
      builder.free();
    }
  }

  /** A map of exactly these keys, with their values. */
  buildMap(spec, keys, values, options) {
    const builder = this.mapBuilder(spec);
    try {
      builder.putBatch(keys, values, options);
      return builder.finish();
    } finally {
      builder.free();
    }
  }

  /** The size and the rate of a filter that a spec describes, which is not made. */
  size(spec, keys = spec.capacity ?? 0) {
    const engine = this.#engine;
    return this.#withSpec(spec, (handle) => {
      engine.call("petal_spec_size", handle, whole(keys, "keys"));
      const [bits, bytes, , hashes] = engine.answers;
      const size = {
        bits: Number(bits), bytes: Number(bytes), falsePositiveRate: engine.reals[2], hashes: Number(hashes),
      };
      engine.call("petal_free", handle);
      return size;
    });
  }

  /** What each kind would cost. The kinds that fit come first, the best at the top. */
  plan(request) {
    onlyKnown(request, REQUEST, "a request");
    const engine = this.#engine;
    const { keys, falsePositiveRate, memory, capabilities = [], isStatic = false, inPlace = false } = request;
    if (falsePositiveRate !== undefined && memory !== undefined) {
      throw new PetalError(-7, "falsePositiveRate and memory: give one of them");
    }
    const all = new Map(engine.allCapabilities());
    const set = capabilities.reduce((set, name) => {
      if (!all.has(name)) throw new PetalError(-4, `${name} is not a capability; they are ${[...all.keys()].join(", ")}`);
      return set | all.get(name);
    }, 0n);
    const bytes = memory === undefined ? 0n : whole(memory, "memory");
    if (memory !== undefined && bytes === 0n) throw new PetalError(OUT_OF_RANGE, "memory = 0 bytes hold no filter");
    const count = engine.call(
      "petal_plan_propose", whole(keys, "keys"), real(falsePositiveRate ?? 0.01, "falsePositiveRate"), bytes, set,
      Number(isStatic), Number(inPlace), whole(request.universe ?? 0, "universe"), whole(request.times ?? 0, "times"),
      real(request.frequent ?? 0, "frequent"), whole(request.non_members ?? 0, "non_members"),
    );
    const recommended = Number(engine.answers[0]);
    const proposals = Array.from({ length: count }, (_, i) => this.#proposal(i));
    return { recommended: proposals[recommended]?.kind ?? null, proposals };
  }

  #proposal(number) {
    const engine = this.#engine;
    const status = engine.attempt("petal_plan_proposal", [number]);
    const kind = engine.text(0);
    if (status < 0) {
      return { kind, fits: false, reason: engine.failure(status).message };
    }
    const [parameter, reals, numbers] = [engine.text(7), engine.reals, engine.answers];
    return {
      kind,
      fits: true,
      bitsPerKey: reals[2],
      bytes: Number(numbers[3]),
      falsePositiveRate: reals[4],
      linesPerLookup: reals[5],
      buildMemory: Number(numbers[6]),
      parameters: parameter === "" ? {} : { [parameter]: reals[9] },
    };
  }

  /** Every kind of filter and map that this module has. */
  kinds() {
    const engine = this.#engine;
    const all = [];
    for (let i = 0; engine.call("petal_kind", i) === 0; i++) {
      const numbers = engine.answers.slice();
      const kind = {
        name: engine.text(0),
        summary: engine.text(2),
        capabilities: engine.namesOf(numbers[4]),
        isMadeEmpty: numbers[5] === 1n,
        isMap: numbers[6] === 1n,
        isInPlace: numbers[7] === 1n,
        takesIntegers: numbers[8] === 1n,
        parameters: [],
      };
      for (let j = 0; engine.call("petal_kind_get_parameter", i, j) === 0; j++) {
        const [name, summary, reals] = [engine.text(0), engine.text(2), engine.reals];
        kind.parameters.push({ name, summary, default: reals[4], least: reals[5], greatest: reals[6] });
      }
      all.push(kind);
    }
    return all;
  }

  /** Calls `body` with a spec that is filled in, which is body's to give back. */
  #withSpec(spec, body) {
    onlyKnown(spec, SPEC, "a spec");
    const engine = this.#engine;
    const handle = engine.call("petal_spec");
    try {
      const name = (field, text) =>
        engine.withText(text, (start, length) => engine.call("petal_spec_name", handle, field, start, length));
      if (spec.kind !== undefined) name(0, String(spec.kind));
      if (spec.hash !== undefined) name(1, String(spec.hash));
      ["capacity", "bits", "hashes", "seed"].forEach((field, number) => {
        if (spec[field] !== undefined) engine.call("petal_spec_number", handle, number, whole(spec[field], field));
      });
      if (spec.falsePositiveRate !== undefined) {
        engine.call("petal_spec_rate", handle, real(spec.falsePositiveRate, "falsePositiveRate"));
      }
      if (spec.secret !== undefined) {
        engine.withBytes(secretOf(spec.secret), (start) => engine.call("petal_spec_secret", handle, start));
      }
      for (const [parameter, value] of Object.entries(spec.parameters ?? {})) {
        const text = String(value);
        const number = NUMBER.test(text) ? Number(text) : NaN;
        engine.withText(parameter, (start, length) =>
          engine.withText(text, (at, room) => engine.call("petal_spec_parameter", handle, start, length, at, room, number)));
      }
    } catch (error) {
      if (!engine.stopped) engine.call("petal_free", handle);
      throw error;
    }
    return body(handle);
  }

  /** A module has no form in JSON. */
  toJSON() {
    throw new TypeError("a Petal has no form in JSON");
  }

  /** For tests: fails as a bug in the module would. */
  _stop() {
    this.#engine.call("petal_stop");
  }

  /** For tests: how much memory the module has. */
  get _memory() {
    return this.#engine.calls.memory.buffer.byteLength;
  }
}

/** What was opened, if it is of a class; the memory of another is given back. */
function opened(image, type, other, call) {
  if (image instanceof type) return image;
  const { kind } = image.info;
  image.free();
  throw new PetalError(UNSUPPORTED, `the kind ${kind} is ${other}: open it with ${call}`);
}

function secretOf(secret) {
  if (!(secret instanceof Uint8Array) || secret.length !== 16) throw new TypeError("a secret key is a Uint8Array of 16 bytes");
  return secret;
}

/** A module of one function with an instruction of SIMD128. */
const WITH_SIMD = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
);

/** Whether this machine runs modules with SIMD128. */
export function hasSimd() {
  return WebAssembly.validate(WITH_SIMD);
}

/** The module's instance. */
export async function instantiate(module, options) {
  const compiled = module instanceof WebAssembly.Module ? module : await WebAssembly.compile(module);
  return new Petal(await WebAssembly.instantiate(compiled, {}), options);
}
