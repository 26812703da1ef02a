// Written by `make layers` from sessions.hpp: change that, not this. Part of petal.hpp: what stands there as
// `try_name()`, as `name()`, which throws `petal::error`.

  bytes send() { return try_send().value(); }
  void receive(bytes message) { try_receive(message).value(); }
  std::vector<petal_sketch_listed> differences() const { return try_differences().value(); }
  petal_session_statistics statistics() const { return try_statistics().value(); }
