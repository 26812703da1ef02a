// A limiter of rates by host and by user. A host may make a limited number of requests in a window of time, and so may
// each user of a host. An exact limiter has a row for every host and every pair that came, and an attacker makes as
// many pairs as they like. This limiter has two filters of the kind "spectral", whose size never changes: one counts
// the requests of this window, one has the counts of the window before. The filters never count too low, so no limit is
// ever exceeded. Few counts are too high, so few requests are refused that an exact limiter would pass. The hash
// function has a secret key, so that nobody can find users that share their counters with others.
//
// The program makes an hour of requests: ordinary users, a user who never stops, and a host that tries a new user with
// each request. It compares every answer with an exact limiter, and prints what the filters save.
//
//     rate_limiter [FOLDER]        FOLDER is not used
#include <petal.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>

namespace {

struct limits {
  double window;  // seconds
  double per_host, per_user;
};

class rate_limiter {
 public:
  // For `pairs` pairs of host and user in a window. With more, more requests are refused that an exact limiter would
  // pass.
  rate_limiter(limits allowed, std::uint64_t pairs) : allowed_(allowed) {
    petal::secret_key key;
    std::random_device random;
    for (auto &byte : key) byte = static_cast<std::uint8_t>(random());
    // A counter goes up to 255, or to 65535.
    const double bits = std::max(allowed.per_host, allowed.per_user) < 255 ? 8 : 16;
    petal::spec spec;
    spec.kind(PETAL_KIND_SPECTRAL).capacity(pairs).false_positive_rate(0.01).set("counter_bits", bits);
    spec.hash_function(PETAL_HASH_SIPHASH13).secret(key);
    spec.set("method", "minimal_increase");  // nothing is ever removed
    now_ = petal::filter(spec);
    before_ = petal::filter(spec);
  }

  // Whether a request may pass at this time, in seconds, which never goes back. A request that passes is counted.
  bool passes(double time, const std::string &host, const std::string &user) {
    turn(time);
    // A host's name has no NUL, so no host and user have the key of others.
    const std::string pair = host + '\0' + user;
    if (used(time, host) + 1 > allowed_.per_host || used(time, pair) + 1 > allowed_.per_user) return false;
    now_.insert(host);
    now_.insert(pair);
    return true;
  }

  std::uint64_t bytes() const { return now_.serialized_size() + before_.serialized_size(); }

 private:
  // Ends windows whose time is over.
  void turn(double time) {
    if (time < begun_ + allowed_.window) return;
    std::swap(now_, before_);
    now_.clear();
    begun_ += allowed_.window;
    if (time < begun_ + allowed_.window) return;
    before_.clear();  // nothing came for a whole window
    begun_ = time;
  }

  // How many requests a sliding window has: all of this window, and of the last one the share that is not over.
  double used(double time, const std::string &key) const {
    const double left = 1 - (time - begun_) / allowed_.window;
    return static_cast<double>(now_.count(key)) + left * static_cast<double>(before_.count(key));
  }

  limits allowed_;
  petal::filter now_, before_;
  double begun_ = 0;
};

// The same limiter with a row for each host and pair. It counts the requests that the other one passed.
class exact_limiter {
 public:
  explicit exact_limiter(limits allowed) : allowed_(allowed) {}

  bool passes(double time, const std::string &host, const std::string &user) {
    if (time >= begun_ + allowed_.window) {
      begun_ += allowed_.window;
      before_ = std::exchange(now_, {});
      if (time >= begun_ + allowed_.window) {
        before_.clear();
        begun_ = time;
      }
    }
    const std::string pair = host + '\0' + user;
    return used(time, host) + 1 <= allowed_.per_host && used(time, pair) + 1 <= allowed_.per_user;
  }

  void count(const std::string &host, const std::string &user) {
    now_[host]++;
    now_[host + '\0' + user]++;
    rows_ = std::max(rows_, now_.size() + before_.size());
  }

  // The most rows at the same time, each with its string, count, hash and pointer, and its place in the table.
  std::size_t bytes() const { return rows_ * (sizeof(std::pair<std::string, double>) + 3 * sizeof(void *)); }

 private:
  double used(double time, const std::string &key) const {
    const auto in = [&](const auto &rows) {
      const auto row = rows.find(key);
      return row == rows.end() ? 0 : row->second;
    };
    return in(now_) + (1 - (time - begun_) / allowed_.window) * in(before_);
  }

  limits allowed_;
  std::unordered_map<std::string, double> now_, before_;
  double begun_ = 0;
  std::size_t rows_ = 0;
};

int run() {
  constexpr limits allowed{60, 200, 20};
  rate_limiter limiter(allowed, 20'000);
  exact_limiter exact(allowed);
  std::mt19937_64 random(1);
  std::size_t all = 0, passed = 0, exceeded = 0, too_strict = 0;
  const auto request = [&](double time, const std::string &host, const std::string &user) {
    const bool may_pass = exact.passes(time, host, user), is_passed = limiter.passes(time, host, user);
    if (is_passed) exact.count(host, user);
    all++;
    passed += is_passed;
    exceeded += is_passed && !may_pass;
    too_strict += !is_passed && may_pass;
  };
  for (int second = 0; second < 600; second++) {
    for (int i = 0; i < 200; i++) {
      const std::size_t user = random() % 50'000;
      request(second + i / 200.0, "10.0." + std::to_string(user % 4000), "user" + std::to_string(user));
    }
    for (int i = 0; i < 20; i++) {
      request(second + 0.999, "10.1.1.1", "attempt" + std::to_string(20 * second + i));
      request(second + 0.999, "10.0.7", "user7");
    }
  }
  std::printf("%zu requests, %zu passed\n", all, passed);
  std::printf("two filters take %zu bytes; the rows of an exact limiter took %zu: saved %.1f %%\n",
              static_cast<std::size_t>(limiter.bytes()), exact.bytes(),
              100 - 100 * static_cast<double>(limiter.bytes()) / static_cast<double>(exact.bytes()));
  std::printf("%zu requests passed above a limit, %zu were refused that an exact limiter passes\n", exceeded,
              too_strict);
  return exceeded == 0 && too_strict * 100 <= all ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception &error) {
    std::fprintf(stderr, "rate_limiter: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
