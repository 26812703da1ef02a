// Failures, results, and how they become exceptions and error codes.
#include "common.hpp"

#include <memory>
#include <system_error>

namespace {

TEST(errors, a_status_is_an_error_code) {
  const std::error_code code = petal::status::corrupt;
  EXPECT_EQ(&code.category(), &petal::category());
  EXPECT_STREQ(code.category().name(), "petal");
  EXPECT_EQ(code.value(), PETAL_ERR_CORRUPT);
  EXPECT_EQ(code.message(), petal_status_message(PETAL_ERR_CORRUPT));
  EXPECT_FALSE(std::error_code(petal::status::ok));
  EXPECT_NE(code, petal::status::truncated);
  EXPECT_EQ(make_error_code(petal::status::no_space), std::errc::no_space_on_device);
  EXPECT_EQ(make_error_code(petal::status::access_denied), std::errc::permission_denied);
  EXPECT_EQ(make_error_code(petal::status::out_of_memory), std::errc::not_enough_memory);
  EXPECT_EQ(make_error_code(petal::status::false_positive_rate), std::errc::invalid_argument);
  EXPECT_NE(code, std::errc::invalid_argument);
}

TEST(errors, an_exception_carries_the_message) {
  try {
    petal::filter f(petal::spec().false_positive_rate(2));
    FAIL();
  } catch (const std::system_error &error) {
    EXPECT_EQ(error.code(), petal::status::false_positive_rate);
    EXPECT_TRUE(has(error.what(), "false_positive_rate")) << error.what();
    EXPECT_TRUE(has(error.what(), "2")) << error.what();
    // A copy says the same.
    const auto copy = dynamic_cast<const petal::error &>(error);
    EXPECT_STREQ(copy.what(), error.what());
  }
  static_assert(std::is_nothrow_copy_constructible_v<petal::error>);
  // A call that gives no message itself has that of the batch call.
  const auto error = thrown([] { petal::filter().insert(1); });
  EXPECT_EQ(error.code(), petal::status::null);
  EXPECT_TRUE(has(error.what(), "NULL")) << error.what();
}

TEST(errors, results) {
  petal::result<int> good = 5;
  EXPECT_TRUE(good);
  EXPECT_EQ(*good, 5);
  EXPECT_EQ(good.value(), 5);
  EXPECT_EQ(good.value_or(6), 5);
  EXPECT_EQ(good.status(), petal::status::ok);
  EXPECT_STREQ(good.error().message(), "");

  const petal::result<int> bad = petal::failure(petal::status::locked);
  EXPECT_FALSE(bad);
  EXPECT_FALSE(bad.has_value());
  EXPECT_EQ(bad.value_or(6), 6);
  EXPECT_EQ(bad.status(), petal::status::locked);
  EXPECT_EQ(bad.error().code(), petal::status::locked);
  EXPECT_STREQ(bad.error().message(), petal_status_message(PETAL_ERR_LOCKED));
  EXPECT_EQ(thrown([&] { static_cast<void>(bad.value()); }).status(), petal::status::locked);

  petal::result<std::unique_ptr<int>> moved = std::make_unique<int>(3);
  EXPECT_EQ(**moved, 3);
  const auto out = std::move(moved).value();
  EXPECT_EQ(*out, 3);

  const petal::result<void> fine;
  EXPECT_TRUE(fine);
  fine.value();
  const petal::result<void> not_fine = petal::failure(petal::status::io, "the disk is on fire");
  EXPECT_STREQ(thrown([&] { not_fine.value(); }).what(), "the disk is on fire");
  EXPECT_TRUE(petal::filter::try_make(10, 0.01)->insert(1));
}

TEST(errors, long_messages_are_cut) {
  const std::string long_text(1000, 'x');
  const petal::failure failure(petal::status::io, long_text.c_str());
  EXPECT_EQ(std::strlen(failure.message()), std::size_t{PETAL_ERROR_MESSAGE_SIZE - 1});
}

}  // namespace
