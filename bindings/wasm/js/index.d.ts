/** A key: a text, as UTF-8; bytes; or a whole number from 0 to 2^64 - 1, the same key as its eight little-endian bytes. */
export type Key = string | Uint8Array | bigint;

/** Many keys. */
export type Keys = BigUint64Array | readonly Key[];

/** `{ as: "hashes" }` says that a BigUint64Array has the hashes of keys. */
export interface BatchOptions {
  as?: "hashes";
}

/** Why a call failed, as in C without `PETAL_ERR_`. */
export type Status =
  | "internal" | "null" | "struct_size" | "unknown_value" | "out_of_range" | "false_positive_rate" | "contradiction"
  | "too_large" | "out_of_memory" | "offsets" | "buffer_too_small" | "misaligned" | "unsupported" | "incompatible"
  | "external_hash" | "secret_missing" | "secret_mismatch" | "foreign" | "truncated" | "corrupt" | "newer_version"
  | "unclean" | "io" | "not_found" | "access_denied" | "no_space" | "locked" | "mapped_path" | "cancelled"
  | "callback" | "full" | "unsupported_by_handle" | "unsupported_by_build";

/** What every call throws that the module refuses. */
export class PetalError extends Error {
  readonly name: "PetalError";
  readonly status: Status;
  /** The number of the status in C. */
  readonly code: number;
  /** How many keys of a batch were taken before the error. */
  readonly done: number;
  constructor(code: number, message: string, done?: number);
}

/** What an image says of itself. Counts above 2^53 are rounded. */
export interface Info {
  kind: string;
  hash: string;
  /** The seed, the identifier of the secret key, or the tag of external hashes. */
  seed: bigint;
  layoutVersion: number;
  capabilities: string[];
  hashes: number;
  capacity: number;
  insertions: number;
  bits: number;
  bytes: number;
  falsePositiveRate: number;
  isUnclean: boolean;
  canHash: boolean;
  isMap: boolean;
}

/** How full a filter or a map is. */
export interface Statistics {
  fill: number;
  falsePositiveRate: number;
  /** Distinct keys by the fill; null if nobody can tell. */
  keys: number | null;
  saturated: number;
}

/** What `using` needs, which programs that are compiled for older JavaScript have no declaration of. */
declare global {
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
  interface Disposable {
    [Symbol.dispose](): void;
  }
}

declare abstract class Held {
  /** Gives the memory back. The garbage collector does so too, later. */
  free(): void;
  /** `free`, for `using`. */
  [Symbol.dispose](): void;
}

declare abstract class Image extends Held {
  readonly info: Info;
  readonly parameters: Record<string, number>;
  payload(): Uint8Array;
  statistics(): Statistics;
  expectedFalsePositiveRate(keys: number | bigint): number;
  verify(): void;
  clear(): void;
  save(): Uint8Array;
  /** The image in base64, for `JSON.stringify`. Builders have no form in JSON, and throw. */
  toJSON(): string;
}

/** A filter: `contains` is never false for a key that was inserted. */
export class Filter extends Image {
  private constructor();
  contains(key: Key): boolean;
  containsBatch(keys: Keys, options?: BatchOptions): Uint8Array;
  hash(key: Key): bigint;
  insert(key: Key): boolean;
  insertBatch(keys: Keys, options?: BatchOptions): void;
  remove(key: Key): boolean;
  removeBatch(keys: Keys, options?: BatchOptions): Uint8Array;
  count(key: Key): bigint;
  countBatch(keys: Keys, options?: BatchOptions): BigUint64Array;
  advance(steps?: number | bigint): void;
  merge(other: Filter): void;
}

/** A map from keys to whole numbers. */
export class PetalMap extends Image {
  private constructor();
  get(key: Key): bigint | undefined;
  getBatch(keys: Keys, options?: BatchOptions): { found: Uint8Array; values: BigUint64Array };
  put(key: Key, value: number | bigint): boolean;
  putBatch(keys: Keys, values: Values, options?: BatchOptions): Uint8Array;
  replace(key: Key, value: number | bigint): boolean;
  replaceBatch(keys: Keys, values: Values, options?: BatchOptions): Uint8Array;
  merge(other: PetalMap): void;
}

/** How often each key is asked for: from 2^-60 to 2^60. */
export type Weights = Float64Array | readonly number[];

/** `{ as: "hashes" }` holds for all keys that the options have. */
export interface BuildOptions extends BatchOptions {
  /** The filter says of these keys that they are not there. None of them is a member. For `exact_set`. */
  exclude?: Keys;
  /** All keys that are ever asked for. Those that are no members are excluded. For `exact_set`. */
  universe?: Keys;
  /** Keys that are no members but are asked for often. For `stacked`, with its parameter `frequent_share`. */
  frequent?: Keys;
  /** As many weights as frequent keys; each key has the weight 1 without them. */
  weights?: Weights;
}

export type Values = BigUint64Array | readonly (number | bigint)[];

/** Collects keys; `finish` makes a filter of any kind. The builder is empty then and can be used again. */
export class Builder extends Held {
  private constructor();
  add(key: Key): void;
  addBatch(keys: Keys, options?: BatchOptions): void;
  /** The filter says of this key that it is not there; for kinds such as `exact_set`. */
  exclude(key: Key): void;
  excludeBatch(keys: Keys, options?: BatchOptions): void;
  /** The excluded keys are a whole universe: those that are members too are members. */
  excludeAllButMembers(): void;
  /** A key that is no member but often asked for, for kinds like `stacked`. `weight` (1 by default) says how often. */
  frequent(key: Key, weight?: number): void;
  frequentBatch(keys: Keys, weights?: Weights, options?: BatchOptions): void;
  /** The next filter is `old` and, after it, what changes of its answers; for `exact_set` with partitions. */
  update(old: Filter): void;
  finish(): Filter;
}

/** Collects keys with their values; `finish` makes a map of any kind. */
export class MapBuilder extends Held {
  private constructor();
  put(key: Key, value: number | bigint): void;
  putBatch(keys: Keys, values: Values, options?: BatchOptions): void;
  finish(): PetalMap;
}

/** What a filter or a map is made from. Every field has a default. */
export interface Spec {
  kind?: string;
  capacity?: number | bigint;
  falsePositiveRate?: number;
  bits?: number | bigint;
  hashes?: number;
  hash?: "xxh3" | "xxh64" | "siphash13" | "external" | "identity" | "digest" | (string & {});
  seed?: number | bigint;
  /** The secret key of siphash13: 16 bytes. */
  secret?: Uint8Array;
  parameters?: Record<string, number | string>;
}

export interface PlanRequest {
  keys: number | bigint;
  /** 0.01 if there is no memory either. */
  falsePositiveRate?: number;
  memory?: number | bigint;
  capabilities?: readonly string[];
  /** All keys are known before the first lookup. */
  isStatic?: boolean;
  /** The filter is changed where its image lies. */
  inPlace?: boolean;
  /** All keys that are asked for, members and others; or, if keys are integers, the bound below which all are. */
  universe?: number | bigint;
  times?: number | bigint;
  /** The share, from 0 to 1, of all lookups of absent keys that asks for keys which a builder is given. */
  frequent?: number;
  /** How many such keys there are; as many as `keys` if you leave it out. */
  non_members?: number | bigint;
}

export type Proposal =
  | {
      kind: string;
      fits: true;
      bitsPerKey: number;
      bytes: number;
      falsePositiveRate: number;
      linesPerLookup: number;
      buildMemory: number;
      parameters: Record<string, number>;
    }
  | { kind: string; fits: false; reason: string };

export interface Plan {
  /** The kind to take without further needs; null if none fits. */
  recommended: string | null;
  proposals: Proposal[];
}

export interface KindParameter {
  name: string;
  summary: string;
  default: number;
  least: number;
  greatest: number;
}

export interface Kind {
  name: string;
  summary: string;
  capabilities: string[];
  isMadeEmpty: boolean;
  isMap: boolean;
  isInPlace: boolean;
  takesIntegers: boolean;
  parameters: KindParameter[];
}

/** A module that was loaded. Everything made by it lies in its memory. */
export class Petal {
  constructor(instance: WebAssembly.Instance, options?: { hasSimd?: boolean });
  readonly hasSimd: boolean;
  /** Opens an image. The bytes are copied, and all of them are checked. */
  open(image: Uint8Array, options?: { secret?: Uint8Array }): Filter | PetalMap;
  /** Opens the image of a filter, and refuses that of a map with the status `unsupported`. */
  openFilter(image: Uint8Array, options?: { secret?: Uint8Array }): Filter;
  /** Opens the image of a map, and refuses that of a filter with the status `unsupported`. */
  openMap(image: Uint8Array, options?: { secret?: Uint8Array }): PetalMap;
  create(spec?: Spec): Filter;
  createMap(spec: Spec): PetalMap;
  builder(spec?: Spec): Builder;
  mapBuilder(spec?: Spec): MapBuilder;
  build(spec: Spec, keys: Keys, options?: BuildOptions): Filter;
  buildMap(spec: Spec, keys: Keys, values: Values, options?: BatchOptions): PetalMap;
  size(spec: Spec, keys?: number | bigint): { bits: number; bytes: number; falsePositiveRate: number; hashes: number };
  plan(request: PlanRequest): Plan;
  kinds(): Kind[];
}

export interface LoadOptions {
  /** `petal` has everything; `reader` opens filters of some kinds and looks keys up. */
  build?: "petal" | "reader";
  /** Whether to take the module with SIMD128; by default, if this machine runs it. */
  simd?: boolean;
  /** The folder of the modules, if they do not lie next to the package. */
  from?: string | URL;
}

/** Loads a module. Each call gives another one, with its own memory. */
export function load(options?: LoadOptions): Promise<Petal>;

/** Makes a Petal of a module from elsewhere. */
export function instantiate(
  module: BufferSource | WebAssembly.Module,
  options?: { hasSimd?: boolean },
): Promise<Petal>;

/** Whether this machine runs modules with SIMD128. */
export function hasSimd(): boolean;
