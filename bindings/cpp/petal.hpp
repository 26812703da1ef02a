/*
 * Petal in C++17: Bloom filters and other approximate-membership structures.
 *
 *     petal::filter seen(1'000'000, 0.01);
 *     seen.insert("apple");
 *     if (seen.contains("apple")) std::puts("maybe");
 *     seen.save("seen.petal");
 *
 * A thin layer over petal.h, which is the manual: its rules for kinds, parameters, files and threads hold here too.
 * This header adds object lifetime, exceptions and C++ types. petal_view.hpp has lookups that the compiler puts into
 * your program.
 *
 * Lifetime. `petal::filter` and `petal::builder` own a handle; you can move them but not copy them (`filter::copy()`
 * makes a copy). An object that was moved from, or default-constructed, has no handle. It converts to false, its
 * lookups say true, and all else fails with `status::null`. You can assign to it or destroy it.
 *
 * Errors. `name()` throws `petal::error` if making, changing or I/O fails; `try_name()` is the same operation,
 * `noexcept`, and returns a `petal::result`. Lookups never throw: as in C, any failure returns true, and
 * `try_contains()` says why. With -fno-exceptions, only the `noexcept` forms exist; -fno-rtti is fine. If an operation
 * returns a standard container, running out of memory gives `status::out_of_memory`. Without exceptions it ends the
 * program, as it does for the container itself.
 *
 * Keys. `contains(key)`, `insert(key)` and `add(key)` take
 *   - what converts to `std::string_view`: its characters, without the NUL after them. In an array of `char`, such as a
 *     literal, they end at the first NUL, or with the array. A null `const char *` is no key: lookups say true, and all
 *     else fails with `status::null`. Characters of type `char8_t`, such as `u8"key"`, are the same;
 *   - a contiguous range of bytes (`std::span<const std::byte>`, `std::vector<unsigned char>`, an array ...), or a
 *     pointer and a size: these bytes;
 *   - an integer of up to 64 bits: extended to 64, signed ones by their sign. So `5`, `short{5}` and `5ull` are one
 *     key, and -1 is the key 2^64 - 1 whatever its type; but `std::uint32_t(-1)` is the key 2^32 - 1;
 *   - a `petal::hash64`: a hash that was computed before;
 *   - any type for which a function `petal_key(const T &)`, found in the type's own namespace, returns one of these:
 *
 *         namespace shop {
 *         struct item { std::uint64_t id; std::string name; };
 *         inline std::uint64_t petal_key(const item &i) noexcept { return i.id; }
 *         }
 *
 *     What it returns may be a temporary. Where it returns a `petal::hash64`, the hash is yours; the filter's spec then
 *     says `hash_function(PETAL_HASH_EXTERNAL)`. If it can throw, so can the functions that call it. A batch then
 *     reports the same as on a failure: how many keys were taken, and answers that are true.
 *
 * Batches. `contains_batch(keys)`, `insert_batch(keys)` and `add_batch(keys)` take any range of keys, of all the types
 * above, that can be gone through twice: `std::vector<int>`, `std::set<std::string>`, a C++20 view ...; and
 * `key_range(first, last)`. `contains_batch(keys)` returns how many of the keys may be in the filter;
 * `contains_batch(keys, found)` also writes an answer for each key to `found`, such as a `std::vector<std::uint8_t>` of
 * their number. `insert_batch(keys, is_new)` does so too, and returns how many keys were new. `petal::answers` says
 * what `found` can be. A batch uses keys in place if they lie in memory as the library takes them: contiguous
 * `std::uint64_t`, `std::int64_t` or `hash64`, a `key_buffer`, and `petal::keys`. It copies other keys onto the stack,
 * up to 512 keys and 16 KiB at a time; it does not copy a longer key. If you give the same strings to many calls, copy
 * them once into a `key_buffer`.
 *
 * Threads. `const` members may run in many threads at once on one object; the others need it to themselves.
 *
 * Parts. Each file of the folder petal can be included alone, which compiles faster: a source file that includes
 * petal.hpp takes g++ some 2.3 s, with petal/filters.hpp alone 0.9 s, and with petal/errors.hpp 0.4 s.
 */
#ifndef PETAL_HPP
#define PETAL_HPP

// Microsoft's compiler says which standard it follows in its own macro.
#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 201703L
#error "petal.hpp needs C++17 or newer: compile with -std=c++17, or link the CMake target petal::cpp, which asks for it"
#else

#include "petal/errors.hpp"
#include "petal/keys.hpp"
#include "petal/batches.hpp"
#include "petal/specs.hpp"
#include "petal/filters.hpp"
#include "petal/compact.hpp"
#include "petal/builders.hpp"
#include "petal/maps.hpp"
#include "petal/sketches.hpp"
#include "petal/sessions.hpp"
#include "petal/routers.hpp"
#include "petal/aggregates.hpp"
#include "petal/wire.hpp"
#include "petal/streams.hpp"
#include "petal/digests.hpp"
#include "petal/indexes.hpp"
#include "petal/policies.hpp"
#include "petal/kinds.hpp"
#include "petal/formats.hpp"

#endif  // C++17
#endif  // PETAL_HPP
