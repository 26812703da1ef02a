// Part of a C program: its target finds petal.hpp too.
#include <petal.hpp>

bool is_open(const petal::filter &filter);
bool is_open(const petal::filter &filter) { return static_cast<bool>(filter); }
