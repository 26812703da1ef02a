// Readers of images, as docs/format.md has them: where the cells of a key are, and what they hold.

const MASK = (1n << 64n) - 1n;
export const GOLDEN = 0x9e3779b97f4a7c15n;
const MIX = 0xbf58476d1ce4e5b9n;
const MIX_SCATTERED = 0x94d049bb133111ebn;
const MIX_MORE = 0xd6e8feb86659fd93n;

export const wrap = (x) => x & MASK;
export const mulhigh = (a, b) => (a * b) >> 64n;

/** The finaliser of docs/format.md. */
export function mix(x) {
  x = wrap((x ^ (x >> 30n)) * MIX);
  x = wrap((x ^ (x >> 27n)) * MIX_SCATTERED);
  return x ^ (x >> 31n);
}

/** Number `i` of the numbers of `width` bits. */
export function numberAt(bytes, width, i) {
  let number = 0;
  for (let j = 0; j < width; j++) {
    const bit = i * width + j;
    number += ((bytes[bit >> 3] >> (bit & 7)) & 1) * 2 ** j;
  }
  return number;
}

/** What the header of an image says, and its payload. */
function parts(image) {
  const view = new DataView(image.buffer, image.byteOffset, image.byteLength);
  const word = (at) => view.getBigUint64(at, true);
  const payload = image.subarray(256, 256 + Number(word(136)));
  return { bits: Number(word(64)), words: Array.from({ length: 8 }, (_, i) => Number(word(72 + 8 * i))), payload };
}

/** The numbers x and z of a hash under a seed, from which kinds 4 and 13 place a key. */
function scatter(hash, seed) {
  let x = wrap((hash ^ (hash >> 30n)) * MIX);
  x ^= x >> 27n;
  const z = wrap((x ^ ((seed << 32n) + seed)) * MIX_SCATTERED);
  return [x, z ^ (z >> 31n)];
}

/** Where a key of x is among `shards` shards: its shard, and how far into that it is. */
const divide = (x, shards) => [Number((x * shards) >> 64n), ((x * shards) >> 32n) & 0xffffffffn];

const fingerprintOf = (z, bits) => Number((wrap(z * GOLDEN) >> 32n) % (1n << BigInt(bits)));

/**
 * A reader of a `fuse` image. `cells` has what all cells hold; `find` says which cells a hash has, their exclusive or,
 * and the fingerprint that it would be if the key was there.
 */
export function fuseReader(image) {
  const { bits, words: [width, shards, , arity], payload } = parts(image);
  const count = bits / width;
  const cells = Array.from({ length: count }, (_, i) => numberAt(payload, width, i));
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const find = (hash) => {
    if (shards === 0) return { places: [], sum: 0, fingerprint: fingerprintOf(scatter(hash, 0n)[1], width), found: false };
    const [shard, place] = divide(scatter(hash, 0n)[0], BigInt(shards));
    const at = Math.ceil(bits / 64) * 8 + 16 * shard;
    const [low, high] = [view.getBigUint64(at, true), view.getBigUint64(at + 8, true)];
    const [starts, seed, l, first] = [low & 0xffffffffn, low >> 32n, high & 63n, high >> 6n];
    const z = scatter(hash, seed)[1];
    const p0 = (place * starts) >> 32n;
    const step = arity === 3 ? 32n : 21n;
    const places = Array.from({ length: arity }, (_, i) => {
      const way = BigInt(i);
      const p = i === 0 ? p0 : (p0 + (way << l)) ^ ((z >> ((way - 1n) * step)) % (1n << l));
      return Number(64n * first + p);
    });
    const sum = places.reduce((sum, place) => (sum ^ cells[place]) >>> 0, 0);
    const fingerprint = fingerprintOf(z, width);
    return { places, sum, fingerprint, found: sum === fingerprint };
  };
  return { width, cells, find };
}

/** By the number of coefficients: the bits of a bucket, by how much the first layer is smaller, and the classes. */
const RIBBONS = { 64: [7n, 4, 90n, 111n], 128: [9n, 5, 379n, 454n] };

/**
 * A reader of a `ribbon` image. `cells` has what the slots of all shards hold; `find` says which slots are combined for
 * a hash, from which slot on, in which layer, and whether their exclusive or is the fingerprint.
 */
export function ribbonReader(image) {
  const { bits, words: [width, w, keys], payload } = parts(image);
  const fingerprint = (hash) => fingerprintOf(scatter(hash, 0n)[1], width);
  const nowhere = (hash) => ({ places: [], layer: null, sum: 0, fingerprint: fingerprint(hash), found: false });
  if (keys === 0) return { width, cells: [], find: nowhere };
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const word = (at) => view.getBigUint64(at, true);
  const [bucketBits, less, second, third] = RIBBONS[w];
  const metadataBytes = (slots) => Math.ceil((2 * Math.ceil(slots / 2 ** Number(bucketBits))) / 8);
  const shards = Math.ceil(keys / 2 ** 18);
  const each = Math.ceil(keys / shards);
  const first = each - (each >> less);
  const sizesAt = 8 * (shards - 1);
  const metadataAt = sizesAt + 8 * shards;
  const end = bits / 8;
  const all = Array.from({ length: shards }, (_, shard) => {
    const begin = shard === 0 ? metadataAt + shards * metadataBytes(first) : Number(word(8 * (shard - 1)));
    const stop = shard + 1 < shards ? Number(word(8 * shard)) - (width * w) / 8 : end;
    const sizes = word(sizesAt + 8 * shard);
    const size = (code) => Number(code % 2048n) * 2 ** Number(code >> 11n);
    const layers = [first, ...[0n, 15n, 30n].map((from) => size((sizes >> from) & 0x7fffn))];
    const listed = size((sizes >> 45n) & 0xffffn);
    const last = Number(sizes >> 61n);
    const behind = layers.slice(1).reduce((sum, slots) => sum + metadataBytes(slots), 0) + (last === 7 ? 16 * listed : 0);
    return { begin, stop, layers, listed, last, slots: Math.floor((stop - begin - behind) / width) * 8 };
  });
  /** What slot `slot` of a shard holds: a bit of each of `width` bytes. Past the payload's end lie zeros. */
  const slotAt = ({ begin }, slot) => {
    const at = begin + Math.floor(slot / 8) * width;
    let value = 0;
    for (let c = 0; c < width; c++) value += ((((at + c < end ? payload[at + c] : 0) >> (slot % 8)) & 1) * 2 ** c);
    return value;
  };
  /** Whether a key that starts at `start` is too high up in its bucket for the bucket's threshold. */
  const isBumped = (start, byteOf) => {
    const [bucket, e] = [start >> bucketBits, (1n << bucketBits) - 1n - (start % (1n << bucketBits))];
    const own = e >= third ? 2 : e >= second ? 1 : 0;
    const quarter = Number(bucket % 4n);
    return own >= ((payload[byteOf(Number(bucket / 4n))] >> (2 * quarter)) & 3);
  };
  /** From where on a key has its coefficients, and by which number these are made. */
  const placeOf = (x, z) => {
    const [shard, place] = divide(x, BigInt(shards));
    const its = all[shard];
    const { layers, listed, last, stop } = its;
    const start = (place * BigInt(layers[0])) >> 32n;
    if (!isBumped(start, (i) => metadataAt + shard * metadataBytes(first) + i)) return { its, slot: Number(start), by: z, layer: 0 };
    let from = layers[0];
    let behind = stop;
    const hashed = (i) => mix(z ^ mix(wrap(x + BigInt(i) * GOLDEN)));
    const folded = (y) => wrap(y * GOLDEN) ^ (wrap(y * GOLDEN) >> 32n);
    for (let i = 1; i <= 3 && layers[i] > 0; i++) {
      const y = hashed(i);
      const at = mulhigh(y, BigInt(layers[i]));
      const top = behind;
      if (!isBumped(at, (byte) => top - 1 - byte)) return { its, slot: from + Number(at), by: folded(y), layer: i };
      from += layers[i];
      behind -= metadataBytes(layers[i]);
    }
    if (last < 7 && listed > 0) {
      const y = hashed(4 + last);
      return { its, slot: from + Number(mulhigh(y, BigInt(listed))), by: folded(y), layer: 4 };
    }
    if (last < 7) return null;
    const listAt = behind - 16 * listed;
    for (let i = 0; i < listed; i++) {
      if (word(listAt + 16 * i) === x && word(listAt + 16 * i + 8) === z) return { its, slot: from + w + i, by: null, layer: 5 };
    }
    return null;
  };
  const find = (hash) => {
    const [x, z] = scatter(hash, 0n);
    const place = placeOf(x, z);
    if (place === null) return nowhere(hash);
    const { its, slot, by, layer } = place;
    const low = by === null ? 1n : by | 1n;
    const more = by === null ? 0n : wrap(by * MIX_MORE);
    const coefficients = by === null || w === 64 ? low : low | ((more ^ (more >> 32n)) << 64n);
    const places = [];
    for (let j = 0; j < w; j++) if ((coefficients >> BigInt(j)) & 1n) places.push(slot + j);
    const sum = places.reduce((sum, one) => (sum ^ slotAt(its, one)) >>> 0, 0);
    return { places, slot, layer, shard: all.indexOf(its), sum, fingerprint: fingerprint(hash), found: sum === fingerprint(hash) };
  };
  const cells = all.flatMap((shard) => Array.from({ length: shard.slots }, (_, slot) => slotAt(shard, slot)));
  return { width, coefficients: w, cells, find };
}
