// What the size of each kind comes from, in words and as a number to hold against the library's own.

const lg = Math.log2;

/** The mean of `of(X)` where X is Poisson with this mean: how many keys a block has. */
function poisson(mean, of) {
  const most = Math.ceil(mean + 12 * Math.sqrt(mean) + 30);
  let weight = Math.exp(-mean);
  let sum = 0;
  for (let x = 0; x <= most; x++) {
    sum += weight * of(x);
    weight *= mean / (x + 1);
  }
  return sum;
}

/** Bits a key of a Bloom filter. */
const bloom = (p) => lg(1 / p) / Math.LN2;
/** The rate of blocks of 512 bits in which each key sets k bits. */
const blocks = (bits, keys, k) => poisson((512 * keys) / bits, (x) => (1 - (1 - k / 512) ** x) ** k);
/** How many bits of a word a value of `valueBits` bits takes. */
const inWords = (valueBits) => 64 / Math.floor(64 / valueBits);
const roundedUp = (p) => Math.ceil(lg(1 / p));

/**
 * For each kind its formula in words, and the bits a key or the rate that the formula gives. `n` keys have the rate p;
 * `bits` of the filter, `k` places of a key; `universe`, `share` and `valueBits` where the kind has them. `within` is how
 * far the library's number may be from it.
 */
export const FORMULAS = {
  bloom: {
    text: "m = n log₂(1/p) / ln 2 bits for n keys at the rate p: 1.44 log₂(1/p) bits a key. A key sets k bits, near (m/n) ln 2. The rate is the mean of (X/m)ᵏ over the number X of bits that are set, which is near (1 − e^(−kn/m))ᵏ.",
    bits: ({ p }) => bloom(p), within: 0.02,
  },
  split_block: {
    text: "A key goes to one of B blocks of 256 bits and sets one bit in each of eight lanes of 32 bits. With X keys in a block the rate is (1 − (31/32)^X)⁸. The rate of the filter is the mean over X, which is Poisson with the mean n/B. B is the least that keeps the rate.",
    rate: ({ n, bits }) => poisson((256 * n) / bits, (x) => (1 - (31 / 32) ** x) ** 8), within: 0.01,
  },
  blocked: {
    text: "A key goes to one of B blocks of 512 bits and sets k bits in it. With X keys in a block the rate is near (1 − (1 − k/512)^X)ᵏ. The rate of the filter is the mean over X, which is Poisson with the mean n/B. B is the least that keeps the rate.",
    rate: ({ n, bits, k }) => blocks(bits, n, k), within: 0.05,
  },
  fuse: {
    text: "A fingerprint of r bits gives the rate 2^−r, so r is log₂(1/p), rounded up. A key takes 1.12 r bits with a million keys or more, 1.13 r with ten thousand, and more in small filters.",
    bits: ({ n, p }) => (n < 1e5 ? 1.127 : 1.12) * roundedUp(p), within: 0.03, from: 1e4,
  },
  counting: {
    text: "The places of a Bloom filter, with a counter of 4 bits in place of each bit: 4 · 1.44 log₂(1/p) bits a key, and the same rate.",
    bits: ({ p }) => 4 * bloom(p), within: 0.02,
  },
  scalable: {
    text: "The first level is a blocked filter for three tenths of the rate, 0.3 p. Each further level is twice as large and has 0.7 of the rate of the one before, so that all levels together keep p. The numbers are of a filter that has not grown; its own rate is that of the first level, (1 − (1 − k/512)^X)ᵏ on average.",
    rate: ({ n, bits, k }) => blocks(bits, n, k), within: 0.05,
  },
  ribbon: {
    text: "A fingerprint of r bits gives the rate 2^−r, so r is log₂(1/p), rounded up. A key takes a few thousandths more than r bits.",
    bits: ({ p }) => 1.003 * roundedUp(p), within: 0.01, from: 1e4,
  },
  golomb: {
    text: "A key takes log₂(1/p) bits, and 1.5 to 2.1 bits more: the steps from key to key as Golomb code, and half a bit for the index. Here 1.8 more are assumed.",
    bits: ({ p }) => lg(1 / p) + 1.8, within: 0.06,
  },
  hash_compaction: {
    text: "A signature of b bits takes one slot of an open table. A lookup compares it with all signatures on the key’s way, each of which is the same by chance with the probability 2^−b. The library tries every b and takes the one with the fewest bits for the rate, with as many free slots as it then needs.",
  },
  signatures: {
    text: "With two buckets of four slots a key has eight places, of which 7.7 are taken: the rate is 7.7 / (2^r − 1) for signatures of r bits, so r is log₂(7.7/p + 1), rounded up. A key takes 1.0415 r bits.",
    bits: ({ p }) => 1.0415 * Math.ceil(lg(7.7 / p + 1)), within: 0.01,
  },
  exact_bits: {
    text: "One bit for each whole number below the bound U: U / n bits for each of n keys. It is never wrong.",
    bits: ({ n, universe }) => universe / n, within: 0.01,
  },
  cuckoo: {
    text: "A fingerprint of f bits for each key, in buckets of four slots, which fill to 95.5 %: f / 0.955 bits a key. A lookup compares up to eight fingerprints. The rate is 7.64 / 2^f when the table is full, so f is log₂(7.64/p), rounded up.",
    bits: ({ p }) => Math.ceil(lg(7.64 / p)) / 0.955, within: 0.01,
  },
  quotient: {
    text: "A slot has r + 2.25 bits, and 19 of 20 slots may be taken: (r + 2.25) / 0.95 bits a key. The rate is 1 − e^(−0.95 / 2^r), so r is log₂(0.95/p), rounded up.",
    bits: ({ p }) => (Math.ceil(lg(0.95 / p)) + 2.25) / 0.95, within: 0.01,
  },
  vector_quotient: {
    text: "Tags have 8 bits, for a rate of 0.46 % in 10.83 bits a key, or 16 bits, for 0.0023 % in 18.76. For rates between these the library takes the longer tags or leaves slots empty, whichever is smaller.",
    bits: ({ p }) => (p >= 0.00462 ? 10.83 : p <= 0.001 && p >= 2.33e-5 ? 18.76 : null), within: 0.01,
  },
  spectral: {
    text: "The places of a Bloom filter, with a counter of 16 bits in place of each bit: 16 · 1.44 log₂(1/p) bits a key, and the same rate.",
    bits: ({ p }) => 16 * bloom(p), within: 0.02,
  },
  d_left: {
    text: "A cell has r bits of a fingerprint and a counter of 2 bits, and three quarters of the cells may be taken: (r + 2) / 0.75 bits a key. A lookup compares 24 fingerprints, so the rate is 1 − (1 − 2^−r)²⁴, and r is log₂(24/p), rounded up.",
    bits: ({ p }) => (Math.ceil(lg(24 / p)) + 2) / 0.75, within: 0.02,
  },
  variable_increment: {
    text: "A key adds one of L = 8 increments, 8 to 15, to each of k cells of 8 bits. A cell says no to a key if it is 0, if it has one increment that is another, or if its sum is not one that two increments with the key’s have. With m cells and λ = kn/m the rate is (1 − e^(−λ)(1 + (L−1)/L · λ + (L−1)(L+1)/(12 L²) · λ²))ᵏ.",
    rate: ({ n, bits, k }) => {
      const load = (8 * k * n) / bits;
      return (1 - Math.exp(-load) * (1 + (7 / 8) * load + (63 / 768) * load ** 2)) ** k;
    },
    within: 0.01,
  },
  layered: {
    text: "Eight layers of Bloom filters, each with half the bits of the one before: (2 − 2⁻⁷) · 1.44 log₂(1/p) bits a key. A key that comes once is in the first layer, which has the rate p.",
    bits: ({ p }) => (2 - 2 ** -7) * bloom(p), within: 0.02,
  },
  removed_set: {
    text: "A Bloom filter, and a second one for the keys that are removed, with room for a tenth of the capacity: 1.1 · 1.44 log₂(1/p) bits a key.",
    bits: ({ p }) => 1.1 * bloom(p), within: 0.02,
  },
  taffy: {
    text: "A slot has s bits. The slots are a power of two, of which at most 15 of 16 may be taken: 2^⌈log₂(n / (15/16))⌉ slots. The filter begins with s − 4 bits of fingerprint in a slot, so the rate at first is 2^−(s−4) times the share of slots that are taken. s is so large that the rate stays below p through 32 doublings.",
    rate: ({ n, bits }) => {
      const slots = 2 ** Math.ceil(lg(n / (15 / 16)));
      return (n / slots) * 2 ** (4 - Math.round(bits / slots));
    },
    within: 0.01,
  },
  aleph: {
    text: "A slot has F + 3.31 bits, where F is the bits of a fingerprint. The slots are a power of two, of which at most nine tenths may be taken: 2^⌈log₂(n / 0.9)⌉ slots. The rate at first is 2^−F times the share of slots that are taken. F is so large that the rate stays below p while the filter doubles.",
    rate: ({ n, bits }) => {
      const slots = 2 ** Math.ceil(lg(n / 0.9));
      return 1 - Math.exp(-(n / slots) * 2 ** -Math.round(bits / slots - 3.31));
    },
    within: 0.01,
  },
  age_partitioned: {
    text: "k + 24 slices, each with room for the bits of n / 24 keys a slice of time. An insertion sets one bit in each of the k youngest slices. A “maybe” is k slices in a row that have the key’s bit, for a non-member at one of 25 places: the rate is the probability of such a row, where old slices are half full and young ones less.",
  },
  stable: {
    text: "Cells of 4 bits. An insertion sets a key’s k cells to the greatest value and counts some other cells down by one, so that the share Z of cells that are not 0 goes to a limit. The rate is Zᵏ. The number that count down is the most that loses at most one in 100 of the last n keys. The library gives the rate with n keys; the limit, for ever, is p.",
  },
  rotating: {
    text: "Four generations, each a blocked filter for n / 3 keys. The oldest is dropped as a whole, so that the last n keys are always there. A lookup asks every generation, of which three are full at least: 1 − (1 − f)³, where f is the rate of one of them, (1 − (1 − k/512)^X)ᵏ on average.",
    rate: ({ n, bits, k }) => 1 - (1 - blocks(bits / 4, n / 3, k)) ** 3, within: 0.05,
  },
  exact_set: {
    text: "With b bits of the first level, S stored keys and N others, b + 1 + 2^−b N / S bits for each stored key. The stored keys are the members, or all others, whichever takes fewer bits, and b is the best one. There is no error for any key of the universe.",
    bits: ({ n, universe }) => {
      const sides = [[n, universe - n], [universe - n, n]].filter(([stored]) => stored > 0);
      const each = sides.flatMap(([stored, others]) => Array.from({ length: 33 }, (_, b) => stored * (b + 1) + others * 2 ** -b));
      return Math.min(...each) / n;
    },
    within: 0.03, from: 1e4,
  },
  stacked: {
    text: "Levels of ribbon filters of b₁, b₂, … bits. A frequent non-member gets a “maybe” with the probability F = 2^−(b₁+b₃+…), any other absent key with U = 2^−b₁(1 − 2^−b₂) + 2^−(b₁+b₂+b₃)(1 − 2^−b₄) + …. With the share s of lookups for frequent non-members the rate is s F + (1 − s) U. The library finds the levels with the fewest bits.",
  },
  bloomier: {
    text: "A key takes v bits for its value and c check bits, and a few thousandths more. An absent key gets a value at the rate 2^−c, so c is log₂(1/p), rounded up.",
    bits: ({ p, valueBits }) => 1.0005 * (valueBits + roundedUp(p)), within: 0.01, from: 1e4,
  },
  retrieval: {
    text: "A key takes v bits for its value, and a few thousandths more. No key is stored, so an absent key gets any value.",
    bits: ({ valueBits }) => 1.002 * valueBits, within: 0.02, from: 1e4,
  },
  approximator: {
    text: "As many cells as a Bloom filter has bits, each as wide as a value: v · 1.44 log₂(1/p) bits a key. A word of 64 bits has ⌊64 / v⌋ cells, so v counts as 64 / ⌊64 / v⌋.",
    bits: ({ p, valueBits }) => inWords(valueBits) * bloom(p), within: 0.02,
  },
  mutable_bloomier: {
    text: "v bits of a value and t bits that find it, each times 1.13 with a million keys or more. A word of 64 bits has ⌊64 / v⌋ values, so v counts as 64 / ⌊64 / v⌋. An absent key gets a value at the rate 3 / 2^t, so t is log₂(3/p), rounded up.",
    bits: ({ p, valueBits }) => 1.13 * (inWords(valueBits) + Math.ceil(lg(3 / p))), within: 0.02, from: 1e6,
  },
};
