// beside.cpp: Petal as C++ programs use it, beside other libraries' filters in one run. Petal is the installed library,
// in batches, by call and inlined (petal_inline.h). The other libraries are headers, called one key after the other
// and, where they have bulk calls, in bulk.
//
//   make bench-beside PEERS_INCLUDE="folders"
//   target/bench/beside-native [KEYS...]       default 1e4 1e6
//   target/bench/beside-x86-64-v3 [KEYS...]    the same without AVX-512, here and in the library
//
// Peers are taken from these headers, and those that are missing are named:
//
// - boost/bloom/filter.hpp: fast_multiblock32<8>, fast_multiblock64<6> and the classic filter<7>. Boost hashes an
//   integer by one multiplication, so each stands twice: with its own hash function, and with the hash function that
//   Petal uses for numbers (XXH3 with a seed of 0).
// - binaryfusefilter.h of xor_singleheader.
// - fastfilter_cpp's src: cuckoo/cuckoofilter.h with 12 bits, and bloom/counting_bloom.h with counters of 4 bits.
// - fastfilter_cpp's src/vqf and src/gqf: vqf_cpp.h with tags of 8 bits, and gqf_cpp.h with remainders of 8 bits.
// - fastfilter_cpp's src/ribbon: ribbon_impl.h, homogeneous, with rows of 64 bits and 8 columns.
//
// The slots of gqf are a power of two, so 1.4e4, 9e5 and 1.4e7 keys fill it as `quotient` (.85). Those of cuckoofilter
// are too; it doubles them early, so it stands twice, and 1.55e4, 9.9e5 and 1.58e7 keys fill the second as `cuckoo`.
// ONLY="regular expression" measures the rows with such names, as ONLY=quotient.
//
// A figure is nanoseconds a key, the median of nine turns, in which all filters of a size take their part one after the
// other. Keys come in buffers of 8,192. Up to 10^6 keys a turn of insertions fills the filter; in larger filters it is
// the last keys. Filters that are built of all keys have the time of the whole build instead. The machine should do
// nothing else meanwhile.
#include "bench.h"

#include <petal_inline.h>
#include <petal_more.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#if __has_include(<boost/bloom/filter.hpp>)
#include <boost/bloom/block.hpp>
#include <boost/bloom/fast_multiblock32.hpp>
#include <boost/bloom/fast_multiblock64.hpp>
#include <boost/bloom/filter.hpp>
#define HAS_BOOST 1
#endif
#if __has_include(<binaryfusefilter.h>)
#include <binaryfusefilter.h>
#define HAS_FUSE 1
#endif
#if __has_include(<cuckoo/cuckoofilter.h>)
#include <bloom/counting_bloom.h>
#include <cuckoo/cuckoofilter.h>
#define HAS_FASTFILTER 1
#endif
#if __has_include(<vqf_cpp.h>) && __has_include(<gqf_cpp.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#include <gqf_cpp.h>
#include <vqf_cpp.h>
#pragma GCC diagnostic pop
#define HAS_QUOTIENT 1
#endif
#if __has_include(<ribbon_impl.h>)
#include <ribbon_impl.h>
#define HAS_RIBBON 1
#endif

namespace {

constexpr size_t BUFFER = 8192, TURNS = 9;

// The keys of the present size, for filters that are built of all of them.
std::vector<uint64_t> all_keys;

// A filter that is measured.
struct Subject {
  virtual ~Subject() {}
  // Whether keys are inserted into the filter. If not, it is built of all of them.
  virtual bool inserts() const { return true; }
  // Makes the filter anew: empty, or of the first `keys` keys.
  virtual bool make(uint64_t keys) = 0;
  virtual double bits() const = 0;
  virtual void insert(const uint64_t *, size_t) {}
  virtual uint64_t contains(const uint64_t *keys, size_t count) = 0;
};

uint64_t bits_of(uint64_t keys, uint64_t bits_per_key) { return (keys * bits_per_key + 511) / 512 * 512; }

// A filter of Petal, in one of the ways to use it.
enum class Use { batch, call, inlined };

struct Petal : Subject {
  petal_kind kind;
  uint64_t bits_per_key;
  double fingerprint_bits;
  Use use;
  petal_filter *filter = nullptr;
  petal_view view = PETAL_VIEW_INIT;

  Petal(petal_kind kind, uint64_t bits_per_key, double fingerprint_bits, Use use)
      : kind(kind), bits_per_key(bits_per_key), fingerprint_bits(fingerprint_bits), use(use) {}
  ~Petal() override { petal_filter_free(filter); }

  bool inserts() const override { return kind != PETAL_KIND_FUSE && kind != PETAL_KIND_RIBBON; }

  petal_spec spec(uint64_t keys) const {
    petal_spec spec = PETAL_SPEC_INIT;
    spec.kind = kind;
    spec.capacity = keys;
#ifndef __AVX512F__
    spec.kernel = PETAL_KERNEL_AVX2;
#endif
    if (bits_per_key != 0) spec.bits = bits_of(keys, bits_per_key);
    if (kind == PETAL_KIND_QUOTIENT) {
      // A load of .95 * .9 of the slots, which is gqf's at the sizes that the head of this file names.
      spec.capacity = keys * 10 / 9;
      petal_spec_set(&spec, "remainder_bits", fingerprint_bits, nullptr);
    } else if (fingerprint_bits != 0) {
      petal_spec_set(&spec, "fingerprint_bits", fingerprint_bits, nullptr);
    }
    return spec;
  }

  bool make(uint64_t keys) override {
    petal_filter_free(filter);
    filter = nullptr;
    petal_error error = PETAL_ERROR_INIT;
    petal_spec wanted = spec(keys);
    petal_builder *builder = nullptr;
    petal_status status = PETAL_OK;
    if (!inserts()) {
      wanted.capacity = 0;
      status = petal_builder_new(&wanted, nullptr, &builder, &error);
      petal_keys batch = petal_keys_u64(all_keys.data(), static_cast<size_t>(keys));
      if (status == PETAL_OK) status = petal_builder_add_batch(builder, &batch, nullptr, &error);
      if (status == PETAL_OK) status = petal_builder_finish(builder, &filter, &error);
      petal_builder_free(builder);
    } else {
      status = petal_filter_new(&wanted, &filter, &error);
    }
    view = PETAL_VIEW_INIT;
    if (status != PETAL_OK || petal_filter_get_view(filter, &view, nullptr) != PETAL_OK) {
      if (status != PETAL_OK) fprintf(stderr, "%s\n", error.message);
      return status == PETAL_OK && use != Use::inlined;
    }
    return true;
  }

  double bits() const override {
    uint64_t size = 0;
    petal_filter_serialized_size(filter, &size, nullptr);
    return 8.0 * static_cast<double>(size);
  }

  void insert(const uint64_t *keys, size_t count) override {
    petal_keys batch = petal_keys_u64(keys, count);
    if (use == Use::batch) {
      petal_filter_insert_batch(filter, &batch, nullptr, nullptr);
    } else {
      for (size_t i = 0; i < count; i++) petal_filter_insert_u64(filter, keys[i], nullptr);
    }
  }

  uint64_t contains(const uint64_t *keys, size_t count) override {
    uint64_t found = 0;
    if (use == Use::batch) {
      petal_keys batch = petal_keys_u64(keys, count);
      static uint8_t bitmap[BUFFER / 8];
      petal_answers answers = PETAL_ANSWERS_INIT;
      answers.bitmap = bitmap;
      petal_filter_contains_batch(filter, &batch, &answers, nullptr);
      return answers.true_count;
    }
    if (use == Use::call) {
      for (size_t i = 0; i < count; i++) found += petal_filter_contains_u64(filter, keys[i]);
      return found;
    }
    const petal_view here = view;
#define OF(layout)                                                                                        \
  for (size_t i = 0; i < count; i++)                                                                      \
    found += petal_view_##layout##_contains_hash(&here, petal_view_hash_u64(&here, keys[i]));             \
  return found
    switch (kind) {
      case PETAL_KIND_SPLIT_BLOCK: OF(split_block);
      case PETAL_KIND_BLOCKED: OF(blocked);
      case PETAL_KIND_BLOOM: OF(bloom);
      case PETAL_KIND_FUSE: OF(fuse);
      case PETAL_KIND_RIBBON: OF(ribbon);
      case PETAL_KIND_CUCKOO: OF(cuckoo);
      default: return 0;
    }
#undef OF
  }
};

#ifdef HAS_BOOST
// Petal's hash function of numbers, for Boost.
struct Xxh3 {
  using is_avalanching = void;
  size_t operator()(uint64_t key) const { return petal_view_hash_u64(&any, key); }
  static petal_view any;
};
petal_view Xxh3::any;

template <typename Filter>
struct Boost final : Subject {
  uint64_t bits_per_key;
  bool bulk;
  std::unique_ptr<Filter> filter;
  Boost(uint64_t bits_per_key, bool bulk) : bits_per_key(bits_per_key), bulk(bulk) {}
  bool make(uint64_t keys) override {
    filter.reset();
    filter.reset(new Filter(static_cast<size_t>(bits_of(keys, bits_per_key))));
    return true;
  }
  double bits() const override { return static_cast<double>(filter->capacity()); }
  void insert(const uint64_t *keys, size_t count) override {
    if (bulk) return filter->insert(keys, keys + count);
    for (size_t i = 0; i < count; i++) filter->insert(keys[i]);
  }
  uint64_t contains(const uint64_t *keys, size_t count) override {
    uint64_t found = 0;
    if (bulk) {
      filter->may_contain(keys, keys + count, [&found](uint64_t, bool is) { found += is; });
    } else {
      for (size_t i = 0; i < count; i++) found += filter->may_contain(keys[i]);
    }
    return found;
  }
};
template <typename Hash>
using Fmb32 = Boost<boost::bloom::filter<uint64_t, 1, boost::bloom::fast_multiblock32<8>, 0, Hash>>;
template <typename Hash>
using Fmb64 = Boost<boost::bloom::filter<uint64_t, 1, boost::bloom::fast_multiblock64<6>, 0, Hash>>;
template <typename Hash>
using Classic = Boost<boost::bloom::filter<uint64_t, 7, boost::bloom::block<unsigned char, 1>, 0, Hash>>;
#endif

#ifdef HAS_FUSE
struct Fuse8 final : Subject {
  binary_fuse8_t filter = {};
  ~Fuse8() override { binary_fuse8_free(&filter); }
  bool inserts() const override { return false; }
  bool make(uint64_t count) override {
    binary_fuse8_free(&filter);
    uint32_t size = static_cast<uint32_t>(count);
    return binary_fuse8_allocate(size, &filter) && binary_fuse8_populate(all_keys.data(), size, &filter);
  }
  double bits() const override { return 8.0 * filter.ArrayLength; }
  uint64_t contains(const uint64_t *keys, size_t count) override {
    uint64_t found = 0;
    for (size_t i = 0; i < count; i++) found += binary_fuse8_contain(keys[i], &filter);
    return found;
  }
};
#endif

#if defined(HAS_FASTFILTER) || defined(HAS_QUOTIENT)
template <typename Filter>
struct Fastfilter final : Subject {
  std::unique_ptr<Filter> filter;
  // For how many of the keys it is made. It is filled with all of them.
  double share;
  explicit Fastfilter(double share = 1) : share(share) {}
  bool make(uint64_t keys) override {
    filter.reset();
    filter.reset(new Filter(static_cast<uint64_t>(share * static_cast<double>(keys))));
    return true;
  }
  double bits() const override { return 8.0 * static_cast<double>(filter->SizeInBytes()); }
  void insert(const uint64_t *keys, size_t count) override {
    for (size_t i = 0; i < count; i++) filter->Add(keys[i]);
  }
  uint64_t contains(const uint64_t *keys, size_t count) override {
    uint64_t found = 0;
    for (size_t i = 0; i < count; i++) found += filter->Contain(keys[i]) == 0;
    return found;
  }
};
#endif
#ifdef HAS_FASTFILTER
using Cuckoo12 = Fastfilter<cuckoofilter::CuckooFilter<uint64_t, 12>>;
using Counting4 = Fastfilter<counting_bloomfilter::CountingBloomFilter<uint64_t, 10, false>>;
#endif
#ifdef HAS_QUOTIENT
using Vqf = Fastfilter<vqfilter::VQFilter<uint64_t>>;
using Gqf = Fastfilter<gqfilter::GQFilter<uint64_t, 8>>;
#endif

#ifdef HAS_RIBBON
// The homogeneous ribbon filter of the paper's code: rows of 64 bits, eight columns, solved for all keys at once.
struct RibbonSettings {
  using CoeffRow = uint64_t;
  using Hash = uint64_t;
  using Key = uint64_t;
  using Seed = uint32_t;
  using Index = size_t;
  using ResultRow = uint32_t;
  static constexpr bool kIsFilter = true, kHomogeneous = true, kFirstCoeffAlwaysOne = true, kUseSmash = false,
                        kAllowZeroStarts = false;
  static constexpr uint32_t kFixedNumColumns = 8;
  static Hash HashFn(const Key &key, Seed) { return key_at(key); }
};
struct Homogeneous final : Subject {
  using Solution = ribbon::SerializableInterleavedSolution<RibbonSettings>;
  using Banding = ribbon::StandardBanding<RibbonSettings>;
  ribbon::StandardHasher<RibbonSettings> hasher;
  std::unique_ptr<char[]> memory;
  std::unique_ptr<Solution> solution;
  size_t bytes = 0;
  bool inserts() const override { return false; }
  bool make(uint64_t count) override {
    // 1 + (4 + columns / 4) / (8 * bytes of a row) slots a key, as its authors size it.
    double slots = (1 + (4 + 8 / 4.0) / 64) * static_cast<double>(count);
    bytes = Solution::RoundUpNumSlots(static_cast<size_t>(slots));
    Banding banding(bytes);
    memory.reset(new char[bytes]);
    solution.reset(new Solution(memory.get(), bytes));
    if (!banding.AddRange(all_keys.begin(), all_keys.end())) return false;
    solution->BackSubstFrom(banding);
    return true;
  }
  double bits() const override { return 8.0 * static_cast<double>(bytes); }
  uint64_t contains(const uint64_t *keys, size_t count) override {
    uint64_t found = 0;
    for (size_t i = 0; i < count; i++) found += solution->FilterQuery(keys[i], hasher);
    return found;
  }
};
#endif

struct Row {
  std::string name;
  std::unique_ptr<Subject> subject;
  std::vector<double> inserted, present, absent;
  uint64_t false_positives = 0, asked = 0;
};

void add(std::vector<Row> &rows, const std::string &name, Subject *subject) {
  Row row;
  row.name = name;
  row.subject.reset(subject);
  rows.push_back(std::move(row));
}

std::vector<Row> all_rows() {
  std::vector<Row> rows;
#ifdef HAS_BOOST
  using own = boost::hash<uint64_t>;
  add(rows, "Boost fmb32<8>", new Fmb32<own>(10, false));
  add(rows, "Boost fmb32<8> bulk", new Fmb32<own>(10, true));
  add(rows, "Boost fmb32<8>, XXH3", new Fmb32<Xxh3>(10, false));
  add(rows, "Boost fmb32<8> bulk, XXH3", new Fmb32<Xxh3>(10, true));
  add(rows, "Boost fmb64<6>", new Fmb64<own>(10, false));
  add(rows, "Boost fmb64<6> bulk", new Fmb64<own>(10, true));
  add(rows, "Boost fmb64<6>, XXH3", new Fmb64<Xxh3>(10, false));
  add(rows, "Boost fmb64<6> bulk, XXH3", new Fmb64<Xxh3>(10, true));
  add(rows, "Boost filter<7>", new Classic<own>(10, false));
  add(rows, "Boost filter<7> bulk", new Classic<own>(10, true));
  add(rows, "Boost filter<7>, XXH3", new Classic<Xxh3>(10, false));
#endif
#ifdef HAS_FUSE
  add(rows, "binaryfusefilter.h, 8 bits", new Fuse8());
#endif
#ifdef HAS_FASTFILTER
  add(rows, "cuckoofilter, 12 bits", new Cuckoo12());
  add(rows, "cuckoofilter, 12 bits, made for 7 of 8 keys", new Cuckoo12(.875));
  add(rows, "counting_bloom.h, 4 bits", new Counting4());
#endif
#ifdef HAS_QUOTIENT
  add(rows, "vqf (a vector quotient filter), 8 bits", new Vqf());
  add(rows, "gqf (a quotient filter), 8 bits", new Gqf());
#endif
#ifdef HAS_RIBBON
  add(rows, "homogeneous ribbon, 8 bits", new Homogeneous());
#endif
  struct Kind {
    const char *name;
    petal_kind kind;
    uint64_t bits_per_key;
    double fingerprint_bits;
  };
  const Kind kinds[] = {
      {"split_block", PETAL_KIND_SPLIT_BLOCK, 10, 0}, {"blocked", PETAL_KIND_BLOCKED, 10, 0},
      {"bloom", PETAL_KIND_BLOOM, 10, 0},             {"fuse", PETAL_KIND_FUSE, 0, 8},
      {"cuckoo, 12 bits", PETAL_KIND_CUCKOO, 0, 12},  {"counting", PETAL_KIND_COUNTING, 40, 0},
      {"vector_quotient, 8 bits", PETAL_KIND_VECTOR_QUOTIENT, 0, 8},
      {"quotient, 8 bits", PETAL_KIND_QUOTIENT, 0, 8},
      {"ribbon", PETAL_KIND_RIBBON, 0, 8},
  };
  for (const Kind &kind : kinds) {
    const std::string name = kind.name;
    auto petal = [&kind](Use use) { return new Petal(kind.kind, kind.bits_per_key, kind.fingerprint_bits, use); };
    add(rows, name + " batch", petal(Use::batch));
    add(rows, name + " call", petal(Use::call));
    const bool has_view = kind.kind != PETAL_KIND_COUNTING && kind.kind != PETAL_KIND_VECTOR_QUOTIENT &&
                          kind.kind != PETAL_KIND_QUOTIENT;
    if (has_view) add(rows, name + " inlined", petal(Use::inlined));
  }
  return rows;
}

template <typename Body>
double timed(Body body) {
  double start = now();
  body();
  return now() - start;
}

// Fills a filter, in buffers. Returns the time of a key, of the last `last` keys.
double fill(Subject &subject, uint64_t keys, uint64_t last) {
  static uint64_t some[BUFFER];
  double time = 0;
  for (uint64_t first = 0; first < keys; first += BUFFER) {
    size_t count = static_cast<size_t>(std::min<uint64_t>(BUFFER, keys - first));
    for (size_t i = 0; i < count; i++) some[i] = key_at(first + i);
    double took = timed([&] { subject.insert(some, count); });
    if (first + last >= keys) time += took;
  }
  return time / static_cast<double>(last);
}

bool measure(std::vector<Row> &rows, uint64_t keys) {
  const uint64_t last = std::min<uint64_t>(keys, 1 << 20);
  all_keys.resize(keys);
  for (uint64_t i = 0; i < keys; i++) all_keys[i] = key_at(i);
  for (Row &row : rows) {
    if (!row.subject->make(keys)) return fprintf(stderr, "%s was not made\n", row.name.c_str()), false;
    if (row.subject->inserts()) fill(*row.subject, keys, last);
  }
  // In its part of a turn a filter is asked for a while before the time is taken, so that the caches have of it what
  // they can hold.
  const uint64_t buffers = keys < 4000000 ? 16 : 64, untimed = buffers / 2;
  for (uint64_t turn = 0; turn < TURNS; turn++) {
    for (size_t r = 0; r < rows.size(); r++) {
      Row &row = rows[(r + turn) % rows.size()];
      double present = 0, absent = 0;
      for (uint64_t b = 0; b < untimed + buffers; b++) {
        static uint64_t known[BUFFER], unknown[BUFFER];
        for (size_t i = 0; i < BUFFER; i++) {
          uint64_t place = (turn * 1000 + b) * BUFFER + i + (UINT64_C(1) << 40);
          known[i] = key_at(key_at(place) % keys);
          unknown[i] = key_at(place);
        }
        uint64_t found = 0;
        double time = timed([&] { found = row.subject->contains(known, BUFFER); });
        if (found != BUFFER) return fprintf(stderr, "%s loses keys\n", row.name.c_str()), false;
        if (b >= untimed) present += time;
        time = timed([&] { found = row.subject->contains(unknown, BUFFER); });
        if (b >= untimed) absent += time;
        row.false_positives += found;
        row.asked += BUFFER;
      }
      row.present.push_back(present / static_cast<double>(buffers * BUFFER));
      row.absent.push_back(absent / static_cast<double>(buffers * BUFFER));
    }
  }
  // Filters of a size in turns; large ones are filled fewer times.
  const size_t turns = keys <= 1000000 ? TURNS : keys <= 20000000 ? 3 : 1;
  const size_t fills = static_cast<size_t>(std::max<uint64_t>(1, 100000 / keys));
  for (size_t turn = 0; turn < turns; turn++) {
    for (Row &row : rows) {
      double time = 0;
      for (size_t f = 0; f < fills; f++) {
        bool made = false;
        double build = timed([&] { made = row.subject->make(keys); }) / static_cast<double>(keys);
        if (!made) return false;
        time += (row.subject->inserts() ? fill(*row.subject, keys, last) : build) / static_cast<double>(fills);
      }
      row.inserted.push_back(time);
    }
  }
  return true;
}

int compare(uint64_t keys, const char *only) {
  std::vector<Row> rows = all_rows();
  if (only != nullptr) {
    rows.erase(std::remove_if(rows.begin(), rows.end(),
                              [only](const Row &row) { return !std::regex_search(row.name, std::regex(only)); }),
               rows.end());
  }
  if (!measure(rows, keys)) return 1;
  printf("\n| n = %.0e | insert or build | present | absent | FPR | bits/key |\n|---|---|---|---|---|---|\n",
         static_cast<double>(keys));
  for (Row &row : rows) {
    auto of = [](std::vector<double> &times) { return times.empty() ? 0 : median(times.data(), times.size()); };
    double inserted = of(row.inserted), present = of(row.present), absent = of(row.absent);
    printf("| %s | ", row.name.c_str());
    inserted > 0 ? printf("%.2f", inserted) : printf("   ");
    printf(" | %.2f | %.2f | %.3f %% | %.2f |\n", present, absent,
           100.0 * static_cast<double>(row.false_positives) / static_cast<double>(row.asked),
           row.subject->bits() / static_cast<double>(keys));
  }
  return 0;
}

}  // namespace

int main(int count, char **arguments) {
#ifndef HAS_BOOST
  fprintf(stderr, "boost/bloom/filter.hpp is missing\n");
#else
  petal_spec spec = PETAL_SPEC_INIT;
  spec.capacity = 100;
  spec.false_positive_rate = .01;
  petal_filter *any = nullptr;
  petal_filter_new(&spec, &any, nullptr);
  Xxh3::any = PETAL_VIEW_INIT;
  petal_filter_get_view(any, &Xxh3::any, nullptr);
#endif
#ifndef HAS_FUSE
  fprintf(stderr, "binaryfusefilter.h is missing\n");
#endif
#ifndef HAS_FASTFILTER
  fprintf(stderr, "cuckoo/cuckoofilter.h and bloom/counting_bloom.h are missing\n");
#endif
#ifndef HAS_QUOTIENT
  fprintf(stderr, "vqf_cpp.h and gqf_cpp.h are missing\n");
#endif
#ifndef HAS_RIBBON
  fprintf(stderr, "ribbon_impl.h is missing\n");
#endif
  const char *only = getenv("ONLY");
  std::vector<uint64_t> sizes;
  for (int i = 1; i < count; i++) sizes.push_back(static_cast<uint64_t>(strtod(arguments[i], nullptr)));
  if (sizes.empty()) sizes = {10000, 1000000};
  for (uint64_t keys : sizes) {
    if (keys == 0 || compare(keys, only) != 0) return 2;
  }
  return 0;
}
