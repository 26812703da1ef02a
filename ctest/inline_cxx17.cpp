// petal_inline.h is C++17 by itself, with all warnings and no casts in the style of C, and twice.
#include <petal_inline.h>

#include <petal_inline.h>

#include <cstdio>
#include <memory>

struct Free {
  void operator()(petal_filter *filter) const { petal_filter_free(filter); }
};

static bool works(petal_kind kind) {
  petal_spec spec{};
  spec.struct_size = sizeof spec;
  spec.kind = kind;
  petal_filter *made = nullptr;
  if (petal_filter_new(&spec, &made, nullptr) != PETAL_OK) return false;
  std::unique_ptr<petal_filter, Free> seen(made);
  petal_view view{};
  view.struct_size = sizeof view;
  bool is_new = false;
  return petal_filter_get_writable_view(seen.get(), &view, nullptr) == PETAL_OK &&
         petal_view_insert_u64(&view, 42, &is_new) == PETAL_OK && is_new && petal_view_contains_u64(&view, 42) &&
         petal_filter_contains_u64(seen.get(), 42) && !petal_view_contains_u64(&view, 43);
}

// A kind whose views are for lookups only.
static bool reads(petal_kind kind) {
  petal_spec spec{};
  spec.struct_size = sizeof spec;
  spec.kind = kind;
  petal_builder *builder = nullptr;
  petal_filter *made = nullptr;
  if (petal_builder_new(&spec, nullptr, &builder, nullptr) != PETAL_OK) return false;
  bool right = petal_builder_add_u64(builder, 42) == PETAL_OK;
  right = petal_builder_finish(builder, &made, nullptr) == PETAL_OK && right;
  petal_builder_free(builder);
  std::unique_ptr<petal_filter, Free> seen(made);
  petal_view view{};
  return right && petal_filter_get_view(seen.get(), &view, nullptr) == PETAL_OK && petal_view_contains_u64(&view, 42) &&
         petal_view_contains_u64(&view, 43) == petal_filter_contains_u64(seen.get(), 43);
}

int main() {
#if defined(PETAL_INLINE_AVX512)
  if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
    return 77;
#elif defined(PETAL_INLINE_AVX2)
  if (!__builtin_cpu_supports("avx2")) return 77;
#endif
  bool right = works(PETAL_KIND_BLOCKED) && works(PETAL_KIND_SPLIT_BLOCK) && works(PETAL_KIND_BLOOM);
  right = right && reads(PETAL_KIND_FUSE) && reads(PETAL_KIND_RIBBON) && reads(PETAL_KIND_CUCKOO);
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}
