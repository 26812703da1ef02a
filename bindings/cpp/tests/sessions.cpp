// Sessions, held to sets that are known.
#include "common.hpp"

#include <utility>
#include <vector>

namespace {

// The numbers from `from` on, less than `to`.
petal::sketch numbers(std::uint64_t from, std::uint64_t to, bool keeps, std::uint64_t symbols = 50) {
  petal::sketch sketch(petal::spec().kind(PETAL_KIND_RIBLT).bits(192 * symbols));
  if (keeps) sketch.keep_keys();
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = from; i < to; i++) all.push_back(i);
  sketch.insert_batch(all);
  return sketch;
}

// Carries messages until nobody has one, or one is refused.
petal::result<void> carry(petal::session &a, petal::session &b) {
  for (;;) {
    const bool from_a = a.turn() == petal::session_turn::send;
    if (!from_a && b.turn() != petal::session_turn::send) return {};
    const auto message = from_a ? a.try_send() : b.try_send();
    if (!message) return message.error();
    if (auto taken = (from_a ? b : a).try_receive(*message); !taken) return taken;
  }
}

TEST(Sessions, TellBothSidesWhatDiffers) {
  for (const std::uint32_t flags : {std::uint32_t{0}, std::uint32_t{PETAL_SESSION_KEPT_SYMBOLS}}) {
    petal::session ours(numbers(0, 1003, true), petal::session_role::initiator, flags);
    petal::session theirs(numbers(3, 1005, true), petal::session_role::responder, flags);
    EXPECT_EQ(ours.turn(), petal::session_turn::send);
    EXPECT_EQ(theirs.turn(), petal::session_turn::receive);
    ASSERT_TRUE(carry(ours, theirs));
    EXPECT_EQ(ours.turn(), petal::session_turn::done);
    const auto listed = ours.differences();
    ASSERT_EQ(listed.size(), 5u);
    for (std::uint64_t i = 0; i < 5; i++) {
      EXPECT_EQ(listed[i].number, i < 2 ? 1003 + i : i - 2);
      EXPECT_EQ(listed[i].sign, i < 2 ? -1 : 1);
    }
    EXPECT_EQ(theirs.differences()[0].number, 0u);
    const petal_session_statistics report = ours.statistics();
    EXPECT_EQ(report.used_kept_symbols, flags);
    EXPECT_EQ(report.method,
              static_cast<petal_session_method>(flags ? PETAL_SESSION_METHOD_RIBLT : PETAL_SESSION_METHOD_PINSKETCH));
    EXPECT_EQ(report.sent_bytes, theirs.statistics().received_bytes);
    EXPECT_EQ(report.their_count, 1002u);
  }
}

TEST(Sessions, OfEqualSetsListNothing) {
  petal::session ours(numbers(0, 100, true), petal::session_role::initiator);
  petal::session theirs(numbers(0, 100, true), petal::session_role::responder);
  while (ours.turn() != petal::session_turn::done) {
    theirs.receive(ours.send());
    if (theirs.turn() == petal::session_turn::send) ours.receive(theirs.send());
  }
  EXPECT_TRUE(ours.differences().empty());
  EXPECT_TRUE(theirs.differences().empty());
  EXPECT_EQ(theirs.statistics().method, static_cast<petal_session_method>(PETAL_SESSION_METHOD_EQUAL));
}

TEST(Sessions, RefuseWhatIsNotDue) {
  petal::session ours(numbers(0, 100, true), petal::session_role::initiator);
  petal::session theirs(numbers(0, 101, true), petal::session_role::responder);
  EXPECT_EQ(theirs.try_send().status(), petal::status::unsupported_by_handle);
  EXPECT_EQ(theirs.try_differences().status(), petal::status::unsupported_by_handle);
  const petal::bytes message = ours.send();
  EXPECT_EQ(theirs.try_receive(petal::bytes("x", 1)).status(), petal::status::foreign);
  EXPECT_EQ(theirs.try_receive(petal::bytes(message.data(), 10)).status(), petal::status::truncated);
  EXPECT_EQ(theirs.try_receive(petal::bytes(message.data(), message.size() - 1)).status(), petal::status::corrupt);
  EXPECT_THROW(theirs.receive(petal::bytes()), petal::error);
  EXPECT_EQ(theirs.statistics().messages, 0u);
  theirs.receive(message);
  EXPECT_EQ(theirs.statistics().messages, 1u);
  EXPECT_EQ(petal::session::try_make(petal::sketch(petal::spec().capacity(5)), petal::session_role::initiator).status(),
            petal::status::unsupported);
}

TEST(Sessions, TellTheOtherSideOfAFailure) {
  petal::session ours(numbers(0, 3000, false), petal::session_role::initiator);
  petal::session theirs(numbers(1000, 4000, false), petal::session_role::responder);
  EXPECT_EQ(carry(ours, theirs).status(), petal::status::unsupported_by_handle);
  auto &failed = ours.turn() == petal::session_turn::send ? ours : theirs;
  auto &told = &failed == &ours ? theirs : ours;
  EXPECT_EQ(told.try_receive(failed.send()).status(), petal::status::unsupported_by_handle);
  EXPECT_EQ(failed.turn(), petal::session_turn::failed);
  EXPECT_EQ(told.turn(), petal::session_turn::failed);
  EXPECT_THROW(told.differences(), petal::error);
}

TEST(Sessions, ThatWereMovedFromHaveFailed) {
  petal::session ours(numbers(0, 3, true), petal::session_role::initiator);
  petal::session moved = std::move(ours);
  EXPECT_TRUE(moved);
  EXPECT_FALSE(ours);
  EXPECT_EQ(ours.turn(), petal::session_turn::failed);
  EXPECT_EQ(ours.try_send().status(), petal::status::null);
  EXPECT_EQ(ours.try_receive(petal::bytes()).status(), petal::status::null);
  EXPECT_EQ(ours.try_differences().status(), petal::status::null);
  EXPECT_EQ(ours.try_statistics().status(), petal::status::null);
  EXPECT_EQ(moved.turn(), petal::session_turn::send);
}

}  // namespace
