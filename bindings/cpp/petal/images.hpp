// What filters, maps and sketches have in common. Part of petal.hpp.
#ifndef PETAL_HPP_IMAGES
#define PETAL_HPP_IMAGES

#include "calls.hpp"
#include "specs.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

namespace detail {

/// A callback that takes an image, and the barrier that keeps an exception of the callback.
template <class Write>
struct writer {
  Write &write;
  detail::barrier &barrier;

  static bool call(void *to, const void *data, std::size_t length) noexcept {
    auto &with = *static_cast<writer *>(to);
    return with.barrier.run([&]() -> bool {
      if constexpr (std::is_void_v<decltype(with.write(bytes(data, length)))>) {
        with.write(bytes(data, length));
        return true;
      } else {
        return with.write(bytes(data, length));
      }
    });
  }
};

/// The result of a call of the C API that takes what is given, and then an error to fill in.
template <class Call, class... Given>
result<void> tried(Call &&call, Given... given) noexcept {
  failure error;
  const petal_status code = call(given..., error.out());
  return done(code, std::move(error));
}

/// The members that filters, maps and sketches (`Self`) share: those of the owner of a handle of the C API, and those
/// of an image.
template <class Self, class Handle>
class image_owner {
  using Calls = calls<Handle>;

 public:
  /// Takes over a handle of the C API.
  static Self adopt(Handle *handle) noexcept {
    Self made;
    made.handle_.reset(handle);
    return made;
  }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /// The handle, for calls of the C API. This object keeps the handle.
  Handle *get() const noexcept { return handle_.get(); }
  /// Gives the handle away.
  Handle *release() noexcept { return handle_.release(); }

  /// Opens a file that is an image: mapped, in constant time, unless the mode says to load the image.
  static result<Self> try_open(c_string path, const open_options &options = {}) noexcept {
    return made([&](Handle **handle, petal_error *error) noexcept {
      return Calls::open(path.get(), options.get(), handle, error);
    });
  }
  /// Opens the image at `offset`, a multiple of 8, of an open file, which may be closed right away. On Windows
  /// `descriptor` is a HANDLE.
  static result<Self> try_open_descriptor(std::intptr_t descriptor, std::uint64_t offset,
                                          const open_options &options = {}) noexcept {
    return made([&](Handle **handle, petal_error *error) noexcept {
      return Calls::open_descriptor(descriptor, offset, options.get(), handle, error);
    });
  }
  /// Opens the image at the start of your memory, which is aligned to 8. The memory must outlive the object, unless the
  /// mode says to load the image.
  static result<Self> try_open_in_buffer(void *buffer, std::size_t length, const open_options &options = {}) noexcept {
    return made([&](Handle **handle, petal_error *error) noexcept {
      return Calls::open_in_buffer(buffer, length, options.get(), handle, error);
    });
  }
  /// Copies the image at the start of some bytes, of any alignment, into new memory, and checks the image's checksums.
  static result<Self> try_load(const void *image, std::size_t length, const open_options &options = {}) noexcept {
    return made([&](Handle **handle, petal_error *error) noexcept {
      return Calls::load(image, length, options.get(), handle, error);
    });
  }
  /// A copy in new memory, wherever the original lives.
  result<Self> try_copy() const noexcept {
    return made([&](Handle **handle, petal_error *error) noexcept { return Calls::copy(get(), handle, error); });
  }

  /// Takes in all entries of another object, which was made from the same spec.
  result<void> try_merge(const Self &other) noexcept {
    return tried(Calls::merge, get(), other.get());
  }
  /// Removes all entries.
  result<void> try_clear() noexcept {
    return tried(Calls::clear, get());
  }
  /// Brings an image that was changed in place up to date on its disk. The image becomes clean if it was clean when it
  /// was opened. The destructor does so too, but reports no errors.
  result<void> try_sync() noexcept {
    return tried(Calls::sync, get());
  }
  /// Declares the present bytes to be right, which makes the image clean. Reads the whole payload.
  result<void> try_mark_clean() noexcept {
    return tried(Calls::mark_clean, get());
  }
  /// Compares the present bytes with the checksums. Reads the whole payload.
  result<void> try_verify() const noexcept {
    return tried(Calls::verify, get());
  }
  /// Writes the image to a file. The call replaces an existing file atomically.
  result<void> try_save(c_string path) const noexcept {
    return tried(Calls::save, get(), path.get());
  }

  /// What this handle can do: `PETAL_CAN_*`, ORed. 0 if there is no handle.
  std::uint64_t capabilities() const noexcept { return Calls::capabilities(get()); }
  /// Whether this handle can do all of these: `PETAL_CAN_*`, ORed.
  bool can(std::uint64_t wanted) const noexcept { return (capabilities() & wanted) == wanted; }
  /// All that the header says. Constant time.
  result<petal_description> try_describe() const noexcept {
    return asked(sized<petal_description>(), Calls::describe);
  }

  /// The size of the image in bytes.
  result<std::uint64_t> try_serialized_size() const noexcept {
    return asked(std::uint64_t{0}, Calls::serialized_size);
  }
  /// The image.
  result<std::vector<std::byte>> try_serialize() const noexcept {
    const auto size = try_serialized_size();
    if (!size) return size.error();
    std::vector<std::byte> image;
    if (auto had = allocating([&] { image.resize(static_cast<std::size_t>(*size)); }); !had) return had.error();
    if (auto written = try_serialize(image.data(), image.size()); !written) return written.error();
    return image;
  }
  /// The image into a buffer; returns its size.
  result<std::size_t> try_serialize(void *buffer, std::size_t length) const noexcept {
    return output(std::size_t{0}, Calls::serialize, get(), buffer, length);
  }
  /// Gives the image piece by piece, in order, to `write(petal::bytes)`, which returns nothing, or false to stop. An
  /// exception of `write` becomes `status::callback` here, and `serialize_to()` passes the exception on.
  template <class Write>
  result<void> try_serialize_to(Write &&write) const noexcept {
    detail::barrier barrier;
    return serialize_through(write, barrier);
  }

#if PETAL_HPP_EXCEPTIONS
  // The same operations, which throw `petal::error`.

  template <class Write>
  void serialize_to(Write &&write) const {
    detail::barrier barrier;
    const auto written = serialize_through(write, barrier);
    barrier.rethrow();
    written.value();
  }
#include "throwing/image_owner.hpp"
#endif

 protected:
  template <class Call>
  static result<Self> made(Call &&call) noexcept {
    Handle *handle = nullptr;
    failure error;
    const petal_status code = call(&handle, error.out());
    if (code != PETAL_OK) return error.settle(code);
    return adopt(handle);
  }

  template <class T>
  result<T> asked(T value, petal_status (*call)(const Handle *, T *, petal_error *)) const noexcept {
    return output(value, [&](T *out, petal_error *error) noexcept { return call(get(), out, error); });
  }

  struct free {
    void operator()(Handle *handle) const noexcept { Calls::free(handle); }
  };
  std::unique_ptr<Handle, free> handle_;

 private:
  template <class Write>
  result<void> serialize_through(Write &write, detail::barrier &barrier) const noexcept {
    writer<Write> to{write, barrier};
    return tried(Calls::serialize_to, get(), writer<Write>::call, &to);
  }
};

}  // namespace detail

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_IMAGES
