// Petal's filter policies compared with LevelDB's own.
//
//     filters FOLDER KEYS   databases of KEYS keys, written and read through each policy; prints one line a check
//     filters speed         times both policies, in nanoseconds a key
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/options.h>
#include <leveldb/write_batch.h>
#include <petal.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

int passed = 0, failed = 0;

void check(bool holds, const std::string &name) {
  std::printf("%s: %s\n", holds ? "ok" : "FAILED", name.c_str());
  std::fflush(stdout);
  (holds ? passed : failed)++;
}

void must(const leveldb::Status &status) {
  if (status.ok()) return;
  std::fprintf(stderr, "LevelDB: %s\n", status.ToString().c_str());
  std::exit(1);
}

// As a program in C++ uses them; one in C has petal_leveldb_filterpolicy().
class petal_policy : public leveldb::FilterPolicy {
 public:
  petal_policy(petal_policy_form form, int bits_per_key) : policy_(form, static_cast<std::uint32_t>(bits_per_key)) {}
  const char *Name() const override { return policy_.name(); }
  void CreateFilter(const leveldb::Slice *keys, int count, std::string *to) const override {
    policy_.append_filter(keys, keys + count, *to);
  }
  bool KeyMayMatch(const leveldb::Slice &key, const leveldb::Slice &filter) const override {
    return policy_.key_may_match({key.data(), key.size()}, {filter.data(), filter.size()});
  }

 private:
  petal::policy policy_;
};

using policy = std::unique_ptr<const leveldb::FilterPolicy>;

policy theirs(int bits_per_key) { return policy(leveldb::NewBloomFilterPolicy(bits_per_key)); }
policy ours(petal_policy_form form, int bits_per_key) { return policy(new petal_policy(form, bits_per_key)); }

// Counts the reads of tables.
std::atomic<long> reads{0};

class counted_file : public leveldb::RandomAccessFile {
 public:
  explicit counted_file(leveldb::RandomAccessFile *file) : file_(file) {}
  leveldb::Status Read(std::uint64_t offset, std::size_t n, leveldb::Slice *to, char *scratch) const override {
    reads++;
    return file_->Read(offset, n, to, scratch);
  }

 private:
  std::unique_ptr<leveldb::RandomAccessFile> file_;
};

class counting_env : public leveldb::EnvWrapper {
 public:
  counting_env() : leveldb::EnvWrapper(leveldb::Env::Default()) {}
  leveldb::Status NewRandomAccessFile(const std::string &name, leveldb::RandomAccessFile **to) override {
    leveldb::RandomAccessFile *file = nullptr;
    const leveldb::Status status = target()->NewRandomAccessFile(name, &file);
    if (status.ok()) *to = new counted_file(file);
    return status;
  }
};

counting_env env;

// Key i: the even ones are written, the odd ones lie between them.
std::string key(long i) {
  char text[32];
  std::snprintf(text, sizeof text, "key %012ld", i);
  return text;
}
std::string value(long i) { return "the value of " + key(i); }

class database {
 public:
  database(const std::string &folder, const leveldb::FilterPolicy *filter_policy)
      : cache_(leveldb::NewLRUCache(1 << 16)) {
    leveldb::Options options;
    options.create_if_missing = true;
    options.env = &env;
    options.filter_policy = filter_policy;
    options.block_cache = cache_.get();
    options.compression = leveldb::kNoCompression;
    options.write_buffer_size = 32 << 20;
    leveldb::DB *opened = nullptr;
    must(leveldb::DB::Open(options, folder, &opened));
    db_.reset(opened);
  }

  void fill(long keys) {
    for (long i = 0; i < keys;) {
      leveldb::WriteBatch batch;
      // In another order than that of the tables.
      for (int n = 0; n < 1000 && i < keys; n++, i++) {
        const long k = i * 7919 % keys * 2;
        batch.Put(key(k), value(k));
      }
      must(db_->Write({}, &batch));
    }
    db_->CompactRange(nullptr, nullptr);
  }

  // Looks up every `step`-th key, present or absent: how many answers were right, and how much was read for them.
  struct looked_up {
    long asked = 0, right = 0, read = 0;
  };
  looked_up look_up(long keys, long step, bool present) const {
    looked_up result;
    const long before = reads;
    for (long i = 0; i < keys; i += step) {
      std::string found;
      const long k = 2 * i + !present;
      const leveldb::Status status = db_->Get({}, key(k), &found);
      result.right += present ? status.ok() && found == value(k) : status.IsNotFound();
      result.asked++;
    }
    result.read = reads - before;
    return result;
  }

  std::size_t count() const {
    std::size_t all = 0;
    std::unique_ptr<leveldb::Iterator> at(db_->NewIterator({}));
    for (at->SeekToFirst(); at->Valid(); at->Next()) all++;
    return all;
  }

 private:
  std::unique_ptr<leveldb::Cache> cache_;
  std::unique_ptr<leveldb::DB> db_;
};

// All keys that were written are found, none that was not; what was read for the absent ones.
long read_for_absent(const std::string &folder, const leveldb::FilterPolicy *filter_policy, long keys,
                     const std::string &name) {
  const database db(folder, filter_policy);
  db.look_up(keys, 997, false);  // opens every table
  const auto absent = db.look_up(keys, 37, false);
  const auto present = db.look_up(keys, 37, true);
  check(present.right == present.asked && absent.right == absent.asked, name + ": every key is found, and no other");
  std::printf("   %ld absent keys were looked up with %ld reads, %ld present ones with %ld\n", absent.asked,
              absent.read, present.asked, present.read);
  return absent.read;
}

void same_bytes() {
  std::mt19937_64 random(1);
  long sets = 0, same = 0, answers = 0, agree = 0;
  for (int bits_per_key : {1, 2, 3, 5, 8, 10, 12, 16, 20, 32, 43, 44, 100, 1000}) {
    const policy a = theirs(bits_per_key), b = ours(PETAL_POLICY_LEVELDB, bits_per_key);
    for (int round = 0; round < 200; round++) {
      const int count = static_cast<int>(round < 40 ? round : random() % 500);
      std::vector<std::string> keys;
      for (int i = 0; i < count; i++) {
        std::string one(random() % 40, '\0');
        for (char &byte : one) byte = static_cast<char>(random());
        keys.push_back(i % 50 == 7 ? keys[random() % keys.size()] : one);
      }
      const std::vector<leveldb::Slice> slices(keys.begin(), keys.end());
      std::string x = "before", y = "before";
      a->CreateFilter(slices.data(), count, &x);
      b->CreateFilter(slices.data(), count, &y);
      sets++;
      same += x == y;
      x.erase(0, 6);
      // Also bytes that no policy made.
      if (round % 3 == 0) {
        for (char &byte : x) byte = static_cast<char>(random());
        x.resize(random() % (x.size() + 1));
      }
      for (int i = 0; i < 50; i++) {
        const std::string one = i % 2 && count > 0 ? keys[random() % keys.size()] : std::to_string(random());
        answers++;
        agree += a->KeyMayMatch(one, x) == b->KeyMayMatch(one, x);
      }
    }
  }
  check(same == sets, std::to_string(sets) + " filters are LevelDB's, byte for byte");
  check(agree == answers, std::to_string(answers) + " answers are LevelDB's, of its filters and of any bytes");
  check(std::string(theirs(10)->Name()) == ours(PETAL_POLICY_LEVELDB, 10)->Name(), "the name is LevelDB's");
}

// A filter of a whole table, asked by several threads.
void whole_table(petal_policy_form form, const std::string &name) {
  const policy filters = ours(form, 10);
  std::vector<std::string> keys;
  for (long i = 0; i < 1000000; i++) keys.push_back(key(2 * i));
  const std::vector<leveldb::Slice> slices(keys.begin(), keys.end());
  std::string filter;
  filters->CreateFilter(slices.data(), static_cast<int>(slices.size()), &filter);
  std::atomic<long> found{0}, wrong{0};
  std::vector<std::thread> threads;
  for (long t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      for (long i = t; i < 1000000; i += 4) {
        found += filters->KeyMayMatch(keys[static_cast<std::size_t>(i)], filter);
        wrong += filters->KeyMayMatch(key(2 * i + 1), filter);
      }
    });
  }
  for (auto &thread : threads) thread.join();
  std::printf("   %.2f bits a key, %.3f %% of absent keys match\n", 8e-6 * static_cast<double>(filter.size()),
              static_cast<double>(wrong) / 1e4);
  check(found == 1000000, name + ": a filter of 10^6 keys has them all");
  if (form == PETAL_POLICY_LEVELDB) {
    // How many others match is up to LevelDB: its 32-bit hash is a poor one for keys so alike.
    std::string by_leveldb;
    theirs(10)->CreateFilter(slices.data(), static_cast<int>(slices.size()), &by_leveldb);
    check(filter == by_leveldb, name + ": it is LevelDB's, byte for byte");
  } else {
    check(wrong < 11000, name + ": one other key in a hundred matches");
  }
}

int databases(const std::string &folder, long keys) {
  const policy none, their = theirs(10), exact = ours(PETAL_POLICY_LEVELDB, 10);
  const policy blocked = ours(PETAL_POLICY_BLOCKED, 10);
  same_bytes();
  whole_table(PETAL_POLICY_LEVELDB, "LevelDB's form");
  whole_table(PETAL_POLICY_BLOCKED, "the blocked form");

  const std::string by_leveldb = folder + "/leveldb", by_exact = folder + "/exact",
                    by_blocked = folder + "/blocked";
  database(by_leveldb, their.get()).fill(keys);
  database(by_exact, exact.get()).fill(keys);
  database(by_blocked, blocked.get()).fill(keys);
  const std::size_t count = database(by_exact, exact.get()).count();
  check(count == static_cast<std::size_t>(keys), "a database is written and reopened");
  const long lookups = (keys + 36) / 37;

  const long without = read_for_absent(by_leveldb, none.get(), keys, "LevelDB's database without a policy");
  const long with_theirs = read_for_absent(by_leveldb, their.get(), keys, "LevelDB's database through its own policy");
  const long with_ours = read_for_absent(by_leveldb, exact.get(), keys, "LevelDB's database through Petal");
  // All but the one after the last key that is there.
  check(without >= lookups - 1, "without filters every absent key is read for");
  check(with_theirs > 0 && with_theirs < lookups / 50, "LevelDB's filters keep it from that");
  check(with_ours == with_theirs, "Petal reads LevelDB's filters: just as many reads");
  const long back = read_for_absent(by_exact, their.get(), keys, "Petal's database through LevelDB's policy");
  const long forth = read_for_absent(by_exact, exact.get(), keys, "Petal's database through Petal");
  check(back == forth && forth < lookups / 50, "LevelDB reads Petal's filters: just as many reads");

  const long with_blocked = read_for_absent(by_blocked, blocked.get(), keys, "a database of the blocked form");
  check(with_blocked <= with_theirs, "it is read for no more absent keys than one of LevelDB's");
  const long changed = read_for_absent(by_leveldb, blocked.get(), keys, "LevelDB's database through the blocked form");
  check(changed == without, "filters of another name are not looked at: as many reads as without");

  std::printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}

double nanoseconds() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The best time of several rounds.
void time(const char *name, const leveldb::FilterPolicy &filters, int count) {
  std::vector<std::string> keys, absent;
  for (long i = 0; i < count; i++) {
    keys.push_back(key(2 * i));
    absent.push_back(key(2 * i + 1));
  }
  const std::vector<leveldb::Slice> slices(keys.begin(), keys.end());
  const int repeats = 400000 / count + 1;
  double create = 1e300, present = 1e300, missing = 1e300;
  std::string filter;
  long found = 0, wrong = 0;
  for (int round = 0; round < 7; round++) {
    const double start = nanoseconds();
    for (int i = 0; i < repeats; i++) {
      filter.clear();
      filters.CreateFilter(slices.data(), count, &filter);
    }
    const double created = nanoseconds();
    found = wrong = 0;
    for (int i = 0; i < repeats; i++)
      for (const auto &one : slices) found += filters.KeyMayMatch(one, filter);
    const double looked = nanoseconds();
    for (int i = 0; i < repeats; i++)
      for (const auto &one : absent) wrong += filters.KeyMayMatch(one, filter);
    const double end = nanoseconds(), all = static_cast<double>(repeats) * count;
    create = std::min(create, (created - start) / all);
    present = std::min(present, (looked - created) / all);
    missing = std::min(missing, (end - looked) / all);
  }
  const double all = static_cast<double>(repeats) * count;
  std::printf("%-8s %8d keys: create %5.1f, present %5.1f, absent %5.1f ns a key; %5.2f bits a key, %6.3f %% match%s\n",
              name, count, create, present, missing, 8.0 * static_cast<double>(filter.size()) / count,
              100 * static_cast<double>(wrong) / all, found == static_cast<long>(all) ? "" : ", KEYS ARE LOST");
}

int speed() {
  for (int count : {20, 50, 200, 10000, 1000000}) {
    time("LevelDB", *theirs(10), count);
    time("exact", *ours(PETAL_POLICY_LEVELDB, 10), count);
    time("blocked", *ours(PETAL_POLICY_BLOCKED, 10), count);
  }
  return 0;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc == 2 && std::string(argv[1]) == "speed") return speed();
  return argc == 3 ? databases(argv[1], std::atol(argv[2])) : 2;
}
