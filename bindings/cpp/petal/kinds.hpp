// Which kinds there are, and which to take. Part of petal.hpp.
#ifndef PETAL_HPP_KINDS
#define PETAL_HPP_KINDS

#include "errors.hpp"
#include "keys.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

/// How many kinds there are: of filters, maps, other systems' filters and sketches.
inline std::size_t kind_count() noexcept { return petal_kind_count(); }
/// Describes the kind at an index less than `kind_count()`; `handle` and `PETAL_IS_FOREIGN` tell them apart. Skip kinds
/// with a handle that you do not know.
inline result<petal_kind_info> try_kind_at(std::size_t index) noexcept {
  return detail::output(detail::sized<petal_kind_info>(), petal_kind_get_at, index);
}
/// Describes the kind of a name.
inline result<petal_kind_info> try_kind_find(c_string name) noexcept {
  return detail::output(detail::sized<petal_kind_info>(), petal_kind_find, name.get());
}
/// Describes a parameter of a kind, by an index less than its `parameter_count`.
inline result<petal_parameter_info> try_kind_parameter(petal_kind kind, std::size_t index) noexcept {
  const auto ask = [&](petal_parameter_info *info, petal_error *error) noexcept {
    return petal_kind_get_parameter(kind, index, info, error);
  };
  return detail::output(detail::sized<petal_parameter_info>(), ask);
}
/// The name of a choice of the parameter at an index of a kind, with its final NUL.
using choice_name = std::array<char, PETAL_NAME_SIZE>;
inline result<choice_name> try_kind_choice(petal_kind kind, std::size_t parameter, std::size_t choice) noexcept {
  return detail::output(choice_name{}, [&](choice_name *name, petal_error *error) noexcept {
    return petal_kind_get_choice(kind, parameter, choice, name->data(), error);
  });
}

/// What you want of a kind: keys, and a rate or a memory; see `petal_plan_request`.
class plan_request {
 public:
  plan_request() noexcept : request_(detail::sized<petal_plan_request>()) {}
  /// Distinct keys.
  plan_request &keys(std::uint64_t value) noexcept { request_.keys = value; return *this; }
  /// The greatest false-positive rate.
  plan_request &false_positive_rate(double value) noexcept { request_.false_positive_rate = value; return *this; }
  /// The most bytes.
  plan_request &memory(std::uint64_t value) noexcept { request_.memory = value; return *this; }
  /// What the kind must be able to do: `PETAL_CAN_*`, ORed.
  plan_request &capabilities(std::uint64_t value) noexcept { request_.capabilities = value; return *this; }
  /// Whether all keys are known before the first lookup.
  plan_request &is_static(bool value = true) noexcept { request_.is_static = value ? 1u : 0u; return *this; }
  /// For keys that are integers, the bound below which all keys are; 0 is unknown.
  plan_request &universe(std::uint64_t value) noexcept { request_.universe = value; return *this; }
  plan_request &add_frequent(double share) noexcept { request_.frequent = share; return *this; }
  plan_request &non_members(std::uint64_t value) noexcept { request_.non_members = value; return *this; }
  /// The greatest number of times that one key comes, for kinds that count.
  plan_request &times(std::uint64_t value) noexcept { request_.times = value; return *this; }
  const petal_plan_request *get() const noexcept { return &request_; }

 private:
  petal_plan_request request_;
};

/// Proposes kinds of filter, the best first. Kinds that do not fit come last and say why.
inline result<std::vector<petal_plan_proposal>> try_plan(const plan_request &request) noexcept {
  std::vector<petal_plan_proposal> proposals;
  auto had = detail::allocating([&] { proposals.resize(petal_kind_count(), detail::sized<petal_plan_proposal>()); });
  if (!had) return had.error();
  std::size_t count = 0;
  failure error;
  const petal_status code = petal_plan_propose(request.get(), proposals.data(), proposals.size(), &count, error.out());
  proposals.resize(code == PETAL_OK ? count : 0);
  return detail::done(proposals, code, std::move(error));
}

#if PETAL_HPP_EXCEPTIONS
#include "throwing/kinds.hpp"
#endif

/// The library's version, such as "0.1.0", and as a number like `PETAL_VERSION_NUMBER`.
inline std::string_view version() noexcept { return petal_version_string(); }
inline std::uint32_t version_number() noexcept { return petal_version_number(); }

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_KINDS
