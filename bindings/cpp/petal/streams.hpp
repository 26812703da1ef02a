// Streams of coded symbols. Part of petal.hpp.
#ifndef PETAL_HPP_STREAMS
#define PETAL_HPP_STREAMS

#include "sketches.hpp"

#include <petal_sketch.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

/// Coded symbols from a sketch and to it: one side writes those of its set, and the other side reads them until it has
/// found all differences. The sketch must outlive the stream and must not change meanwhile. See petal_sketch.h.
class stream {
 public:
  /// No stream, like one that was moved from.
  stream() noexcept = default;

  /// The handle of the C API.
  petal_stream *get() const noexcept { return handle_.get(); }

  /// Makes a stream that has written and read nothing.
  static result<stream> try_make(const sketch &of) noexcept {
    petal_stream *handle = nullptr;
    failure error;
    const petal_status code = petal_stream_new(of.get(), &handle, error.out());
    if (code != PETAL_OK) return error.settle(code);
    stream made;
    made.handle_.reset(handle);
    made.key_bytes_ = of.key_bytes();
    return made;
  }

  /// Sets the most symbols that the stream reads; 2^20 if you do not set it.
  result<void> try_set_limit(std::uint64_t symbols) noexcept {
    return detail::tried(petal_stream_set_limit, get(), symbols);
  }
  /// Writes the next coded symbols: at most `symbols`, and only whole ones that the buffer has room for. Returns the
  /// number of bytes. 98 bytes are enough for a symbol.
  result<std::size_t> try_write(std::uint64_t symbols, void *buffer, std::size_t length) noexcept {
    return detail::output(std::size_t{0}, petal_stream_write, get(), symbols, buffer, length);
  }
  /// Reads the next bytes of the other side's stream, which may end anywhere. Returns whether the symbols up to here
  /// show all differences.
  result<bool> try_read(const void *bytes, std::size_t length) noexcept {
    return detail::output(false, petal_stream_read, get(), bytes, length);
  }
  /// The differences that are found so far: 1 for a number that only the sketch has, -1 for one that only the other
  /// side has.
  result<listing> try_list() const noexcept {
    return detail::listed(static_cast<std::size_t>(symbols_read()),
                          [this](petal_sketch_listed *listed, std::size_t room, std::size_t *count, bool *is_complete,
                                 petal_error *error) noexcept {
                            return petal_stream_list(get(), listed, room, count, is_complete, error);
                          });
  }
  /// The differences that are found so far, if the sketch holds whole keys.
  result<key_listing> try_list_keys() const noexcept {
    return detail::listed_keys(key_bytes_, static_cast<std::size_t>(symbols_read()),
                               [this](void *keys, std::int64_t *signs, std::size_t room, std::size_t *count,
                                      bool *is_complete, petal_error *error) noexcept {
                                 return petal_stream_list_keys(get(), keys, signs, room, count, is_complete, error);
                               });
  }
  /// How many symbols were written.
  std::uint64_t symbols_written() const noexcept { return petal_stream_symbols_written(get()); }
  /// How many symbols were read.
  std::uint64_t symbols_read() const noexcept { return petal_stream_symbols_read(get()); }

#if PETAL_HPP_EXCEPTIONS
  // The same operations, which throw `petal::error`.

  explicit stream(const sketch &of) : stream(try_make(of).value()) {}
#include "throwing/stream.hpp"
#endif

 private:
  struct free {
    void operator()(petal_stream *handle) const noexcept { petal_stream_free(handle); }
  };

  std::unique_ptr<petal_stream, free> handle_;
  std::size_t key_bytes_ = 0;
};

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_STREAMS
