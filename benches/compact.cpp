// compact.cpp: what compact forms and one key asked of many filters cost. `make bench-compact` compiles and runs it.
//
// "Across" asks 1,000 filters of 122 KB for one hash, by calls and in one call, compared with reading a line of each,
// fetched ahead. "Small" makes filters of 20 to 200 keys of 16 bytes at LevelDB's ten bits a key and looks keys up in
// them, compared with LevelDB's own policy, with which it is compiled where that is installed (-DLEVELDB -lleveldb).
// "Opening" opens forms of several sizes. All are measured in turns; of the turns the median counts.
#include <petal_formats.h>
#include <petal_more.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>
#ifdef LEVELDB
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>
#include <memory>
#endif

namespace {

std::uint64_t key_at(std::uint64_t i) {
  i = (i ^ i >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  i = (i ^ i >> 27) * UINT64_C(0x94d049bb133111eb);
  return i ^ i >> 31;
}

void need(petal_status status) {
  if (status == PETAL_OK) return;
  std::fprintf(stderr, "%s\n", petal_status_message(status));
  std::exit(1);
}

struct way {
  const char *name;
  double units;  // What the time of a turn is divided by.
  std::function<std::uint64_t(int)> run;
  std::vector<double> times;
};

volatile std::uint64_t sink;

// Runs all ways in turns, and prints the median of each and its ratio to the first.
void measure(std::vector<way> ways, int turns) {
  for (int turn = 0; turn < turns; turn++) {
    for (way &each : ways) {
      auto before = std::chrono::steady_clock::now();
      sink = each.run(turn);
      auto after = std::chrono::steady_clock::now();
      each.times.push_back(std::chrono::duration<double, std::nano>(after - before).count() / each.units);
    }
  }
  double first = 0;
  for (way &each : ways) {
    std::sort(each.times.begin(), each.times.end());
    double median = each.times[each.times.size() / 2];
    if (first == 0) first = median;
    std::printf("  %-46s %9.1f ns %7.2f\n", each.name, median, median / first);
  }
}

void across(petal_kind kind, const char *name) {
  const std::size_t count = 1000;
  const std::uint64_t keys = 97656;  // 122 KB at ten bits a key.
  std::vector<const petal_filter *> filters;
  std::vector<const char *> payloads;
  std::vector<std::vector<std::uint64_t>> forms;
  std::vector<const void *> data;
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < count; i++) {
    petal_spec spec = {};
    spec.struct_size = sizeof spec;
    spec.kind = kind;
    spec.bits = keys * 10 / 512 * 512;
    spec.capacity = keys;
    petal_filter *filter = nullptr;
    need(petal_filter_new(&spec, &filter, nullptr));
    std::vector<std::uint64_t> hashes(keys);
    for (std::uint64_t j = 0; j < keys; j++) hashes[j] = key_at(i * keys + j);
    petal_keys all = petal_keys_hashes(hashes.data(), hashes.size());
    need(petal_filter_insert_batch(filter, &all, nullptr, nullptr));
    filters.push_back(filter);
    std::uint64_t size = 0;
    need(petal_filter_compact_size(filter, &size, nullptr));
    forms.emplace_back((size + 7) / 8);
    need(petal_filter_serialize_compact(filter, forms.back().data(), size, nullptr, nullptr));
    data.push_back(forms.back().data());
    lengths.push_back(size);
    payloads.push_back(reinterpret_cast<const char *>(forms.back().data()));
  }
  // The limit reads the forms, and so does "compact"; the handles have their own memory. Each turn has another hash.
  const std::size_t lines = keys * 10 / 512;
  std::vector<std::uint8_t> bytes(count);
  auto hash_of = [](int turn, int salt) {
    return key_at((UINT64_C(1) << 40) + 7 * static_cast<unsigned>(turn) + static_cast<unsigned>(salt));
  };
  auto line_of = [=](std::uint64_t hash) {
    return static_cast<std::size_t>((static_cast<unsigned __int128>(hash) * lines) >> 64) * 64;
  };
  auto reading = [&](int turn) {
    std::uint64_t sum = 0;
    std::size_t line = line_of(hash_of(turn, 0));
    for (std::size_t i = 0; i < 32; i++) __builtin_prefetch(payloads[i] + line);
    for (std::size_t i = 0; i < count; i++) {
      if (i + 32 < count) __builtin_prefetch(payloads[i + 32] + line);
      std::uint64_t word;
      std::memcpy(&word, payloads[i] + line, 8);
      sum += word;
    }
    return sum;
  };
  auto calls = [&](int turn) {
    std::uint64_t sum = 0, hash = hash_of(turn, 1);
    for (const petal_filter *filter : filters) sum += petal_filter_contains_hash(filter, hash);
    return sum;
  };
  auto together = [&](int turn) {
    petal_answers answers = {};
    answers.struct_size = sizeof answers;
    answers.bytes = bytes.data();
    need(petal_filter_contains_across_hash(filters.data(), count, hash_of(turn, 2), &answers, nullptr));
    return answers.true_count;
  };
  auto compact_calls = [&](int turn) {
    std::uint64_t sum = 0, hash = hash_of(turn, 3);
    for (std::size_t i = 0; i < count; i++) sum += petal_compact_contains_hash(data[i], lengths[i], hash);
    return sum;
  };
  auto compact_together = [&](int turn) {
    petal_answers answers = {};
    answers.struct_size = sizeof answers;
    answers.bytes = bytes.data();
    need(petal_compact_contains_across_hash(data.data(), lengths.data(), count, hash_of(turn, 4), &answers, nullptr));
    return answers.true_count;
  };
  std::printf("\nOne hash in 1,000 %s filters of 122 KB, per filter\n", name);
  measure({{"reading a line, fetched ahead", 1000, reading, {}},
           {"petal_filter_contains_hash, by calls", 1000, calls, {}},
           {"petal_filter_contains_across_hash", 1000, together, {}},
           {"petal_compact_contains_hash, by calls", 1000, compact_calls, {}},
           {"petal_compact_contains_across_hash", 1000, compact_together, {}}},
          301);
  for (const petal_filter *filter : filters) petal_filter_free(const_cast<petal_filter *>(filter));
}

void small(std::size_t keys) {
  const std::size_t filters = 8, length = 16;
  std::vector<char> text(filters * keys * length * 2);
  for (std::size_t i = 0; i < text.size() / 8; i++) {
    std::uint64_t word = key_at(i);
    std::memcpy(&text[8 * i], &word, 8);
  }
  auto key = [&](std::size_t filter, std::size_t i) { return &text[(filter * 2 * keys + i) * length]; };
  petal_spec spec = {};
  spec.struct_size = sizeof spec;
  spec.false_positive_rate = 0.0082;  // LevelDB's ten bits and six probes.
  petal_builder *builder = nullptr;
  need(petal_builder_new(&spec, nullptr, &builder, nullptr));
  std::vector<std::string> ours(filters), theirs(filters);
  std::vector<std::uint64_t> offsets(keys + 1);
  for (std::size_t i = 0; i <= keys; i++) offsets[i] = i * length;
  auto make = [&](int) {
    std::uint64_t sum = 0;
    for (std::size_t f = 0; f < filters; f++) {
      petal_keys all = petal_keys_bytes(key(f, 0), keys * length, offsets.data(), keys);
      need(petal_builder_add_batch(builder, &all, nullptr, nullptr));
      std::uint64_t size = 0;
      need(petal_builder_compact_size(builder, &size, nullptr));
      ours[f].clear();
      ours[f].resize(size);
      std::size_t written = 0;
      need(petal_builder_finish_compact(builder, &ours[f][0], size, &written, nullptr));
      ours[f].resize(written);
      sum += written;
    }
    return sum;
  };
  // Half of the keys that are looked up are there.
  auto look_up = [&](int turn) {
    std::uint64_t sum = 0;
    for (std::size_t f = 0; f < filters; f++) {
      for (std::size_t i = 0; i < 2 * keys; i++) {
        std::size_t at = key_at(i + static_cast<unsigned>(turn)) % (2 * keys);
        sum += petal_compact_contains(ours[f].data(), ours[f].size(), nullptr, key(f, at), length);
      }
    }
    return sum;
  };
  double made = static_cast<double>(filters), looked_up = static_cast<double>(filters * 2 * keys);
  std::printf("\n%zu keys of 16 bytes a filter\n", keys);
#ifdef LEVELDB
  std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(10));
  std::vector<leveldb::Slice> slices(keys);
  auto their_make = [&](int) {
    std::uint64_t sum = 0;
    for (std::size_t f = 0; f < filters; f++) {
      for (std::size_t i = 0; i < keys; i++) slices[i] = leveldb::Slice(key(f, i), length);
      theirs[f].clear();
      policy->CreateFilter(slices.data(), static_cast<int>(keys), &theirs[f]);
      sum += theirs[f].size();
    }
    return sum;
  };
  auto their_look_up = [&](int turn) {
    std::uint64_t sum = 0;
    for (std::size_t f = 0; f < filters; f++) {
      for (std::size_t i = 0; i < 2 * keys; i++) {
        std::size_t at = key_at(i + static_cast<unsigned>(turn)) % (2 * keys);
        sum += policy->KeyMayMatch(leveldb::Slice(key(f, at), length), theirs[f]);
      }
    }
    return sum;
  };
  measure({{"make: LevelDB's own policy", made, their_make, {}},
           {"make: petal_builder_finish_compact", made, make, {}}},
          301);
  measure({{"look up: LevelDB's own policy", looked_up, their_look_up, {}},
           {"look up: petal_compact_contains", looked_up, look_up, {}}},
          101);
#else
  measure({{"make: petal_builder_finish_compact", made, make, {}}}, 301);
  measure({{"look up: petal_compact_contains", looked_up, look_up, {}}}, 101);
#endif
  std::printf("  bytes: %zu, LevelDB's %zu\n", ours[0].size(), theirs[0].size());
  petal_builder_free(builder);
}

void opening(std::uint64_t keys) {
  petal_filter *filter = petal_filter_with_capacity(keys, 0.01);
  for (std::uint64_t i = 0; i < keys; i++) need(petal_filter_insert_u64(filter, i, nullptr));
  std::uint64_t size = 0;
  need(petal_filter_compact_size(filter, &size, nullptr));
  std::vector<std::uint64_t> form((size + 7) / 8);
  need(petal_filter_serialize_compact(filter, form.data(), size, nullptr, nullptr));
  petal_filter_free(filter);
  auto open = [&](int) {
    for (int i = 0; i < 100; i++) {
      petal_filter *opened = nullptr;
      need(petal_filter_open_compact(form.data(), size, nullptr, &opened, nullptr));
      petal_filter_free(opened);
    }
    return UINT64_C(0);
  };
  std::string name = "open and free, " + std::to_string(size) + " bytes";
  measure({{name.c_str(), 100, open, {}}}, 101);
}

}  // namespace

int main() {
  for (std::size_t keys : {20, 50, 100, 200}) small(keys);
  std::printf("\nOpening\n");
  for (std::uint64_t keys : {20, 100, 200, 3000, 4000, 1000000}) opening(keys);
  across(PETAL_KIND_BLOCKED, "blocked");
  across(PETAL_KIND_SPLIT_BLOCK, "split_block");
  across(PETAL_KIND_BLOOM, "bloom");
  return 0;
}
