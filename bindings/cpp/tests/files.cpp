// Images: files, buffers, callbacks.
#include "common.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace {

petal::filter filled() {
  petal::filter f(1000, 0.001);
  f.insert_batch(numbers(0, 1000));
  return f;
}

using files = folder;

TEST_F(files, save_and_open_in_every_mode) {
  const auto f = filled();
  const auto file = path("a.petal");
  f.save(file);
  EXPECT_EQ(std::filesystem::file_size(file), f.serialized_size());

  // A path is anything with a c_str().
  EXPECT_TRUE(petal::filter::open(file.string().c_str()).equals(f));
  EXPECT_TRUE(petal::filter::open(file.string()).equals(f));

  EXPECT_TRUE(petal::filter::open(file, petal::open_options().prefault()).equals(f));
  EXPECT_TRUE(petal::filter::open(file, petal::open_options().prefault(false)).equals(f));

  auto read = petal::filter::open(file);
  read.verify();
  EXPECT_EQ(read.contains_batch(numbers(0, 1000)), 1000u);
  EXPECT_EQ(read.describe().state & PETAL_STATE_IN_PLACE, static_cast<std::uint32_t>(PETAL_STATE_IN_PLACE));
  EXPECT_FALSE(read.can(PETAL_CAN_INSERT));
  EXPECT_EQ(read.try_insert(1).status(), petal::status::unsupported_by_handle);
  EXPECT_EQ(read.try_save(file).status(), petal::status::mapped_path);

  {
    auto write = petal::filter::open(file, petal::open_mode::write);
    EXPECT_TRUE(write.insert("a key that was not there"));
    EXPECT_EQ(petal::filter::try_open(file, petal::open_mode::write).status(), petal::status::locked);
    write.sync();
    EXPECT_TRUE(petal::filter::open(file, petal::open_mode::load).contains("a key that was not there"));
    write.insert("and another");
  }
  // Letting it go brings the image up to date.
  auto loaded = petal::filter::open(file, petal::open_options(petal::open_mode::load));
  EXPECT_TRUE(loaded.contains("and another"));
  EXPECT_EQ(loaded.describe().insertions, 1002u);
  EXPECT_TRUE(loaded.insert("its own memory"));
  loaded.save(path("b.petal"));
}

TEST_F(files, shared_between_handles) {
  filled().save(path("a.petal"));
  {
    const auto one = petal::filter::open(path("a.petal"), petal::open_mode::share);
    const auto two = petal::filter::open(path("a.petal"), petal::open_mode::share);
    EXPECT_TRUE(one.insert_shared("a key that was not there"));
    EXPECT_TRUE(two.contains("a key that was not there"));
  }
  EXPECT_TRUE(petal::filter::open(path("a.petal"), petal::open_mode::load).contains("a key that was not there"));
}

TEST_F(files, unclean_until_marked_clean) {
  filled().save(path("a.petal"));
  {
    auto write = petal::filter::open(path("a.petal"), petal::open_mode::write);
    write.insert("a key that was not there");
    std::filesystem::copy_file(path("a.petal"), path("torn.petal"));
  }
  auto torn = petal::filter::open(path("torn.petal"), petal::open_mode::write);
  torn.sync();
  EXPECT_EQ(torn.try_verify().status(), petal::status::unclean);
  EXPECT_TRUE(torn.try_mark_clean());
  torn.mark_clean();
  torn.verify();
  EXPECT_EQ(torn.describe().state & PETAL_STATE_UNCLEAN, 0u);
  EXPECT_EQ(thrown([] { petal::filter().mark_clean(); }).status(), petal::status::null);
}

TEST_F(files, at_an_offset_of_a_descriptor) {
  const auto f = filled();
  std::ofstream out(path("container"), std::ios::binary);
  out << "16 bytes before.";
  f.serialize_to([&](petal::bytes piece) { out << piece.text(); });
  out << "and what follows";
  out.close();

  const auto inside = petal::filter::open_descriptor(open_file(path("container")).number(), 16);
  EXPECT_TRUE(inside.equals(f));
  EXPECT_EQ(petal::filter::try_open_descriptor(-1, 16).error().os_error(), not_open);
  EXPECT_THROW(petal::filter::open_descriptor(-1, 0), petal::error);
}

TEST_F(files, errors) {
  const auto missing = petal::filter::try_open(path("nowhere"));
  EXPECT_EQ(missing.status(), petal::status::not_found);
  EXPECT_EQ(missing.error().os_error(), not_there);
  EXPECT_TRUE(has(missing.error().message(), "nowhere"));
  const auto error = thrown([&] { petal::filter::open(path("nowhere")); });
  EXPECT_EQ(error.code(), petal::status::not_found);
  EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
  EXPECT_EQ(error.os_error(), not_there);
  EXPECT_STREQ(error.what(), missing.error().message());
  EXPECT_THROW(filled().save(path("no/such/folder")), std::system_error);

  std::ofstream(path("text")) << std::string(300, 'x');
  EXPECT_EQ(petal::filter::try_open(path("text")).status(), petal::status::foreign);
  filled().save(path("cut"));
  std::filesystem::resize_file(path("cut"), 300);
  EXPECT_EQ(petal::filter::try_open(path("cut")).status(), petal::status::truncated);
}

TEST(images, bytes) {
  const auto f = filled();
  auto image = f.serialize();
  ASSERT_EQ(image.size(), f.serialized_size());
  const auto loaded = petal::filter::load(image);
  EXPECT_TRUE(loaded.equals(f));
  EXPECT_EQ(loaded.serialize(), image);
  // Of any alignment, and of any type of bytes.
  std::string shifted(1, ' ');
  shifted.append(reinterpret_cast<const char *>(image.data()), image.size());
  EXPECT_TRUE(petal::filter::load(std::string_view(shifted).substr(1)).equals(f));
  EXPECT_TRUE(petal::filter::load(shifted.data() + 1, image.size()).equals(f));

  std::vector<unsigned char> buffer(image.size());
  EXPECT_EQ(f.serialize(buffer.data(), buffer.size()), image.size());
  EXPECT_EQ(std::memcmp(buffer.data(), image.data(), image.size()), 0);
  EXPECT_EQ(f.try_serialize(buffer.data(), 100).status(), petal::status::buffer_too_small);

  image.back() ^= std::byte{1};
  EXPECT_EQ(petal::filter::try_load(image).status(), petal::status::corrupt);
  image.resize(100);
  EXPECT_THROW(petal::filter::load(image), petal::error);
  EXPECT_THROW(petal::filter::load(nullptr, 0), petal::error);
}

TEST(images, callbacks) {
  const auto f = filled();
  std::ostringstream out;
  f.serialize_to([&](petal::bytes piece) { out << piece.text(); });
  EXPECT_TRUE(petal::filter::load(out.str()).equals(f));

  // False stops, and so does an exception, which comes out where it should.
  EXPECT_EQ(f.try_serialize_to([](petal::bytes) { return false; }).status(), petal::status::callback);
  EXPECT_EQ(thrown([&] { f.serialize_to([](petal::bytes) { return false; }); }).status(), petal::status::callback);
  int calls = 0;
  const auto fails = [&](petal::bytes) -> bool {
    calls++;
    throw std::domain_error("the tape is full");
  };
  EXPECT_THROW(f.serialize_to(fails), std::domain_error);
  EXPECT_EQ(f.try_serialize_to(fails).status(), petal::status::callback);
  EXPECT_EQ(calls, 2);
}

TEST(images, memory_of_the_caller) {
  const auto spec = petal::spec().capacity(500).false_positive_rate(0.01);
  const auto size = static_cast<std::size_t>(spec.image_size());
  std::vector<std::uint64_t> buffer(size / 8 + 1);
  {
    auto f = petal::filter::make_in_buffer(spec, buffer.data(), size);
    EXPECT_TRUE(f.insert("apple"));
    EXPECT_EQ(f.describe().state & PETAL_STATE_IN_PLACE, static_cast<std::uint32_t>(PETAL_STATE_IN_PLACE));
    f.sync();
    auto moved = std::move(f);
    EXPECT_TRUE(moved.insert("pear"));
  }
  {
    const auto read = petal::filter::open_in_buffer(buffer.data(), size);
    EXPECT_TRUE(read.contains("apple") && read.contains("pear"));
    EXPECT_EQ(read.describe().insertions, 2u);
    EXPECT_FALSE(read.can(PETAL_CAN_INSERT));
  }
  {
    auto write = petal::filter::open_in_buffer(buffer.data(), size, petal::open_mode::write);
    EXPECT_TRUE(write.insert("plum"));
  }
  const auto copy = petal::filter::open_in_buffer(buffer.data(), size, petal::open_mode::load);
  std::fill(buffer.begin(), buffer.end(), 0);
  EXPECT_TRUE(copy.contains("plum"));

  EXPECT_EQ(petal::filter::try_make_in_buffer(spec, buffer.data(), 64).status(), petal::status::buffer_too_small);
  EXPECT_EQ(petal::filter::try_make_in_buffer(spec, reinterpret_cast<char *>(buffer.data()) + 1, size).status(),
            petal::status::misaligned);
  EXPECT_EQ(petal::filter::try_make_in_buffer(spec, nullptr, size).status(), petal::status::null);
  EXPECT_EQ(petal::filter::try_open_in_buffer(buffer.data(), size).status(), petal::status::foreign);
}

}  // namespace
