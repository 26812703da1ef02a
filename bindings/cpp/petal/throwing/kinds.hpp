// Written by `make layers` from kinds.hpp: change that, not this. Part of petal.hpp: what stands there as `try_name()`,
// as `name()`, which throws `petal::error`.

inline petal_kind_info kind_at(std::size_t index) { return try_kind_at(index).value(); }
inline petal_kind_info kind_find(c_string name) { return try_kind_find(name).value(); }
inline petal_parameter_info kind_parameter(petal_kind kind, std::size_t index) {
  return try_kind_parameter(kind, index).value();
}
inline choice_name kind_choice(petal_kind kind, std::size_t parameter, std::size_t choice) {
  return try_kind_choice(kind, parameter, choice).value();
}
inline std::vector<petal_plan_proposal> plan(const plan_request &request) { return try_plan(request).value(); }
