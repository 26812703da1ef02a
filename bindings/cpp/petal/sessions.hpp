// Sessions. Part of petal.hpp.
#ifndef PETAL_HPP_SESSIONS
#define PETAL_HPP_SESSIONS

#include "sketches.hpp"

#include <petal_session.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

/// The part of a side in a session.
enum class session_role : petal_session_role {
  /// Sends the first message, and chooses the way to the differences.
  initiator = PETAL_SESSION_ROLE_INITIATOR,
  /// Answers.
  responder = PETAL_SESSION_ROLE_RESPONDER,
};

/// What a side has to do next.
enum class session_turn : petal_session_turn {
  /// `session::send()` has a message.
  send = PETAL_SESSION_TURN_SEND,
  /// `session::receive()` waits for a message.
  receive = PETAL_SESSION_TURN_RECEIVE,
  /// The differences are known.
  done = PETAL_SESSION_TURN_DONE,
  /// The session ended without a result.
  failed = PETAL_SESSION_TURN_FAILED,
};

/// One side of a session, in which two sides find out what only one of them has. You carry the messages. Here both
/// sides are in one program:
///
///     const petal::spec spec = petal::spec().kind(PETAL_KIND_RIBLT).capacity(100);
///     petal::sketch ours(spec), theirs(spec);
///     theirs.insert(7);
///     petal::session initiator(ours, petal::session_role::initiator);
///     petal::session responder(theirs, petal::session_role::responder);
///     while (initiator.turn() != petal::session_turn::done) {
///       responder.receive(initiator.send());
///       if (responder.turn() == petal::session_turn::send) initiator.receive(responder.send());
///     }
///     for (const petal_sketch_listed &one : initiator.differences()) std::printf("%d\n", static_cast<int>(one.sign));
///
/// See petal_session.h.
class session {
 public:
  /// A session without a handle, as after a move: it has failed.
  session() noexcept = default;

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /// The handle, for calls of the C API. It stays this object's.
  petal_session *get() const noexcept { return handle_.get(); }

  /// Begins a session over a sketch's set. `flags` is 0 or `PETAL_SESSION_KEPT_SYMBOLS`. The session copies what it
  /// needs, so the sketch may change or end meanwhile.
  static result<session> try_make(const sketch &of, session_role part, std::uint32_t flags = 0) noexcept {
    petal_session *handle = nullptr;
    failure error;
    const petal_status code =
        petal_session_new(of.get(), static_cast<petal_session_role>(part), flags, &handle, error.out());
    if (code != PETAL_OK) return error.settle(code);
    session made;
    made.handle_.reset(handle);
    return made;
  }

  /// What this side has to do next.
  petal::session_turn turn() const noexcept { return static_cast<petal::session_turn>(petal_session_get_turn(get())); }
  /// The next message for the other side. The bytes belong to the session, and stay until the next call with it. If the
  /// session failed, one message tells the other side.
  result<bytes> try_send() noexcept {
    const void *message = nullptr;
    std::size_t length = 0;
    failure error;
    const petal_status code = petal_session_send(get(), &message, &length, error.out());
    if (code != PETAL_OK) return error.settle(code);
    return bytes(message, length);
  }
  /// Takes the other side's next message as a whole. Bytes that are not the message that is due change nothing. After
  /// other errors the session has failed, and `send()` has a message that tells the other side.
  result<void> try_receive(bytes message) noexcept {
    return detail::tried(petal_session_receive, get(), message.data(), message.size());
  }
  /// The numbers that one side has alone: first those of the other side with -1, then those of this side with 1, each
  /// in ascending order.
  result<std::vector<petal_sketch_listed>> try_differences() const noexcept {
    std::vector<petal_sketch_listed> listed;
    std::size_t count = 0;
    const auto list = [&](petal_error *error) noexcept {
      return petal_session_get_differences(get(), listed.data(), listed.size(), &count, error);
    };
    if (auto counted = detail::tried(list); !counted) return counted.error();
    if (auto had = detail::allocating([&] { listed.resize(count); }); !had) return had.error();
    if (auto written = detail::tried(list); !written) return written.error();
    return listed;
  }
  /// What the session chose, and what it cost so far.
  result<petal_session_statistics> try_statistics() const noexcept {
    return detail::output(detail::sized<petal_session_statistics>(), petal_session_get_statistics, get());
  }

#if PETAL_HPP_EXCEPTIONS
  // The same operations, which throw `petal::error`.

  session(const sketch &of, session_role part, std::uint32_t flags = 0) : session(try_make(of, part, flags).value()) {}
#include "throwing/session.hpp"
#endif

 private:
  struct free {
    void operator()(petal_session *handle) const noexcept { petal_session_free(handle); }
  };
  std::unique_ptr<petal_session, free> handle_;
};

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_SESSIONS
