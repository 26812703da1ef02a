// Written by `make layers` from formats.hpp: change that, not this. Part of petal.hpp: what stands there as
// `try_name()`, as `name()`, which throws `petal::error`.

inline petal_format_info format_at(std::size_t index) { return try_format_at(index).value(); }
inline petal_format_info format_find(c_string name) { return try_format_find(name).value(); }
inline variant_name format_variant(c_string format, std::size_t index) {
  return try_format_variant(format, index).value();
}
inline petal_format_info format_recognise(bytes foreign) { return try_format_recognise(foreign).value(); }
inline spec format_spec(c_string format, std::uint64_t capacity, double false_positive_rate, c_string variant = nullptr,
    std::uint64_t seed = 0) {
  return try_format_spec(format, capacity, false_positive_rate, variant, seed).value();
}
