/* BUILDERS */
#include "check.h"

#include <math.h>
#include <signal.h>
#ifndef _WIN32
#include <sys/resource.h>
#endif

static petal_builder *make(const petal_spec *spec, const petal_builder_options *options) {
  petal_builder *builder = NULL;
  petal_error error = {.struct_size = sizeof error};
  petal_status status = petal_builder_new(spec, options, &builder, &error);
  check_that(status == PETAL_OK, __FILE__, __LINE__, "new builder: %s", error.message);
  return builder;
}

static petal_filter *finish(petal_builder *builder) {
  petal_filter *filter = NULL;
  petal_error error = {.struct_size = sizeof error};
  petal_status status = petal_builder_finish(builder, &filter, &error);
  check_that(status == PETAL_OK, __FILE__, __LINE__, "finish: %s", error.message);
  return filter;
}

static uint64_t keys_in(const petal_builder *builder) {
  uint64_t count = UINT64_MAX;
  CHECK_OK(petal_builder_key_count(builder, &count, NULL));
  return count;
}

/* The filter is sized for the distinct keys, or also for the copies where these take room, and equals one that was
 * sized so and filled by hand. */
static void distinct_sizing(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .false_positive_rate = 0.005};
  petal_builder *builder = make(&spec, NULL);
  CHECK_EQUAL(keys_in(builder), 0);
  for (uint64_t i = 0; i < 30000; i++) CHECK_OK(petal_builder_add_u64(builder, i % 10000));
  CHECK_EQUAL(keys_in(builder), 30000);
  petal_filter *built = finish(builder);

  petal_spec sized = spec;
  sized.capacity = 10000;
  if (check_refuses_copies(kind)) {
    petal_description of_built = {.struct_size = sizeof of_built};
    CHECK_OK(petal_filter_describe(built, &of_built, NULL));
    sized.capacity = of_built.capacity;
    CHECK(sized.capacity > 10000);
  }
  if (check_can(kind, PETAL_CAN_INSERT)) {
    petal_filter *filled = NULL;
    CHECK_OK(petal_filter_new(&sized, &filled, NULL));
    for (uint64_t i = 0; i < 30000; i++) CHECK_OK(petal_filter_insert_u64(filled, i % 10000, NULL));
    /* A builder adds keys in its own order. */
    if (check_has(kind, PETAL_IS_CANONICAL)) CHECK(check_same_bits(built, filled));
    petal_filter_free(filled);
  }
  uint64_t lost = 0;
  for (uint64_t i = 0; i < 10000; i++) lost += !petal_filter_contains_u64(built, i);
  CHECK(lost <= (check_can(kind, PETAL_MAY_LOSE_KEYS) ? 100 : 0));
  petal_description description = {.struct_size = sizeof description};
  CHECK_OK(petal_filter_describe(built, &description, NULL));
  CHECK_EQUAL(description.insertions, 30000);
  CHECK_EQUAL(description.capacity, sized.capacity);

  /* The builder is empty again and can be used again. Three forms of a key are one key. */
  CHECK_EQUAL(keys_in(builder), 0);
  static const unsigned char bytes[8] = {42};
  uint64_t hash = 0;
  CHECK_OK(petal_spec_hash(&spec, NUMBER(42), &hash, NULL));
  CHECK_OK(petal_builder_add(builder, bytes, 8));
  CHECK_OK(petal_builder_add_u64(builder, 42));
  CHECK_OK(petal_builder_add_hash(builder, hash));
  CHECK_OK(petal_builder_add(builder, NULL, 0));
  petal_filter *second = finish(builder);
  CHECK_OK(petal_filter_describe(second, &description, NULL));
  CHECK(check_refuses_copies(kind) ? description.capacity >= 4 : description.capacity == 2);
  CHECK_EQUAL(description.insertions, 4);
  CHECK(petal_filter_contains_u64(second, 42) && petal_filter_contains(second, "", 0));
  CHECK(!check_same_bits(second, built));

  /* Nothing in it makes an empty filter. */
  petal_filter *empty = finish(builder);
  CHECK_EQUAL(check_keys(empty), 0);
  CHECK(!petal_filter_contains_u64(empty, 42));
  petal_builder_free(builder);
  petal_filter_free(built);
  petal_filter_free(second);
  petal_filter_free(empty);
}

/* A capacity or an exact size in the spec is kept. */
static void given_sizes(petal_kind kind) {
  petal_spec specs[] = {
      {.struct_size = sizeof *specs, .kind = kind, .capacity = 5000},
      {.struct_size = sizeof *specs, .kind = kind, .bits = 1 << 16, .hashes = 8},
      {.struct_size = sizeof *specs, .kind = kind, .bits = 1 << 16, .capacity = 5000},
  };
  for (size_t s = 0; s < 3; s++) {
    uint64_t size = 0;
    petal_status sized = petal_spec_image_size(&specs[s], &size, NULL);
    /* Not every kind has a number of hashes. */
    if (sized == PETAL_ERR_OUT_OF_RANGE && specs[s].hashes != 0) continue;
    /* And of some the sizes are powers of two. */
    if (sized == PETAL_ERR_CONTRADICTION && specs[s].capacity != 0 && check_kind_info(kind).bits_unit == 0) continue;
    CHECK_OK(sized);
    petal_builder *builder = make(&specs[s], NULL);
    petal_filter *filled = NULL;
    CHECK_OK(petal_filter_new(&specs[s], &filled, NULL));
    for (uint64_t i = 0; i < 1000; i++) {
      CHECK_OK(petal_builder_add_u64(builder, i));
      CHECK_OK(petal_filter_insert_u64(filled, i, NULL));
    }
    petal_filter *built = finish(builder);
    if (check_has(kind, PETAL_IS_CANONICAL)) CHECK(check_same_bits(built, filled));
    petal_builder_free(builder);
    petal_filter_free(built);
    petal_filter_free(filled);
  }
}

/* Batches add what single calls add, and say how many. */
static void batches(void) {
  static char text[5000 * 8];
  static uint64_t offsets[5001], numbers[5000];
  petal_spec spec = {.struct_size = sizeof spec};
  for (size_t i = 0; i < 5000; i++) {
    offsets[i + 1] = offsets[i] + (uint64_t)snprintf(text + offsets[i], 8, "%zu", i);
    numbers[i] = check_key(i);
  }
  static const size_t lengths[] = {0, 1, 511, 512, 513, 5000};
  for (size_t n = 0; n < 6; n++) {
    petal_builder *many = make(&spec, NULL), *one = make(&spec, NULL);
    petal_answers answers = ANSWERS(.done = 99);
    CHECK_OK(petal_builder_add_batch(many, BYTE_KEYS(text, sizeof text, offsets, lengths[n]), &answers, NULL));
    CHECK_EQUAL(answers.done, lengths[n]);
    CHECK_OK(petal_builder_add_batch(many, U64_KEYS(numbers, lengths[n]), NULL, NULL));
    CHECK_OK(petal_builder_add_batch(many, HASH_KEYS(numbers, lengths[n]), &answers, NULL));
    CHECK(answers.done == lengths[n] && answers.true_count == 0);
    for (size_t i = 0; i < lengths[n]; i++) {
      CHECK_OK(petal_builder_add(one, text + offsets[i], (size_t)(offsets[i + 1] - offsets[i])));
      CHECK_OK(petal_builder_add_u64(one, numbers[i]));
      CHECK_OK(petal_builder_add_hash(one, numbers[i]));
    }
    CHECK_EQUAL(keys_in(many), 3 * lengths[n]);
    petal_filter *a = finish(many), *b = finish(one);
    CHECK(check_same_bits(a, b));
    petal_filter_free(a);
    petal_filter_free(b);
    petal_builder_free(many);
    petal_builder_free(one);
  }

  /* A batch that is refused adds nothing and says so. */
  petal_builder *builder = make(&spec, NULL);
  uint64_t wrong[] = {0, 4, 2};
  petal_answers answers = ANSWERS(.done = 99);
  CHECK_STATUS(petal_builder_add_batch(builder, BYTE_KEYS(text, 4, wrong, 2), &answers, NULL), PETAL_ERR_OFFSETS);
  CHECK(answers.done == 0 && keys_in(builder) == 0);

  /* A builder finds out nothing about keys. */
  uint8_t bytes[2], bitmap[1];
  uint64_t counts[2];
  petal_answers refused[] = {ANSWERS(.bytes = bytes), ANSWERS(.bitmap = bitmap), ANSWERS(.counts = counts),
                             ANSWERS(.values = counts)};
  for (size_t i = 0; i < 4; i++) {
    CHECK_STATUS(petal_builder_add_batch(builder, U64_KEYS(numbers, 2), &refused[i], NULL), PETAL_ERR_UNSUPPORTED);
  }
  CHECK_EQUAL(keys_in(builder), 0);
  petal_builder_free(builder);
}

/* With little memory keys go to a file without a name; the filter is the same. */
static void spilling(petal_kind kind, uint64_t memory_limit) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind};
  petal_builder_options options = {.struct_size = sizeof options, .memory_limit = memory_limit,
                                   .temporary_directory = check_path(".")};
  unsigned files = check_files_in(check_path("."));
  petal_builder *small = make(&spec, &options), *large = make(&spec, NULL);
  /* More than 1 MiB holds; a quarter of the keys comes twice, far apart. */
  const uint64_t keys = 150000 + check_scaled(250000);
  for (uint64_t round = 0; round < 2; round++) {
    for (uint64_t i = 0; i < keys; i++) {
      uint64_t key = check_key((i + round) % (keys / 4 * 3));
      CHECK_OK(petal_builder_add_u64(small, key));
      CHECK_OK(petal_builder_add_u64(large, key));
    }
#ifndef _WIN32
    /* A temporary file has no name. */
    CHECK_EQUAL(check_files_in(check_path(".")), files);
#endif
    CHECK_EQUAL(keys_in(small), keys);
    petal_filter *a = finish(small), *b = finish(large);
    CHECK(check_same_bits(a, b));
    CHECK_EQUAL(check_keys(a), keys);
    petal_filter_free(a);
    petal_filter_free(b);
  }
  petal_builder_free(small);
  petal_builder_free(large);
  CHECK_EQUAL(check_files_in(check_path(".")), files);
}

struct progress {
  uint64_t calls, last, total, cancel_at;
};

static bool watch(void *context, uint64_t done, uint64_t total) {
  struct progress *progress = context;
  CHECK(done >= progress->last && done <= total);
  CHECK(progress->total == 0 || progress->total == total);
  progress->calls++;
  progress->last = done;
  progress->total = total;
  return progress->cancel_at == 0 || done < progress->cancel_at;
}

/* Progress is reported up to the end. After a cancellation the keys stay, and the filter can still be made. */
static void progress_and_cancel(uint64_t memory_limit) {
  struct progress progress = {.cancel_at = 1};
  petal_spec spec = {.struct_size = sizeof spec};
  petal_builder_options options = {.struct_size = sizeof options, .progress = watch, .progress_context = &progress};
  options.memory_limit = memory_limit;
  if (memory_limit != 0) options.temporary_directory = check_path(".");
  petal_builder *builder = make(&spec, &options), *calm = make(&spec, NULL);
  for (uint64_t i = 0; i < 200000; i++) {
    CHECK_OK(petal_builder_add_u64(builder, i / 2));
    CHECK_OK(petal_builder_add_u64(calm, i / 2));
  }
  static const uint64_t when[] = {1, 50000, 100000};
  for (size_t i = 0; i < 3; i++) {
    petal_filter *none = NULL;
    progress = (struct progress){.cancel_at = when[i]};
    CHECK_STATUS(petal_builder_finish(builder, &none, NULL), PETAL_ERR_CANCELLED);
    CHECK(none == NULL && progress.last >= when[i]);
    CHECK_EQUAL(keys_in(builder), 200000);
  }
  progress = (struct progress){0};
  petal_filter *a = finish(builder), *b = finish(calm);
  CHECK(progress.calls >= 1);
  CHECK(progress.last == progress.total && progress.total > 100000);
  CHECK(check_same_bits(a, b));
  CHECK_EQUAL(check_keys(a), 200000);
  petal_filter_free(a);
  petal_filter_free(b);
  petal_builder_free(builder);
  petal_builder_free(calm);
}

/* Straight into a file: the same filter, the builder is empty, and whoever has the old file open keeps it. */
static void saving(petal_kind kind) {
  const char *path = check_path("built");
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind};
  petal_builder *builder = make(&spec, NULL), *other = make(&spec, NULL);
  petal_filter *old = NULL, *new = NULL, *mapped_old = NULL, *mapped_new = NULL;
  for (uint64_t i = 0; i < 1000; i++) CHECK_OK(petal_builder_add_u64(builder, i));
  CHECK_OK(petal_builder_save(builder, path, NULL));
  CHECK_EQUAL(keys_in(builder), 0);
  CHECK_OK(petal_filter_open(path, NULL, &mapped_old, NULL));
  CHECK_OK(petal_filter_verify(mapped_old, NULL));
  CHECK_OK(petal_filter_copy(mapped_old, &old, NULL));
  CHECK_EQUAL(check_keys(old), 1000);

  for (uint64_t i = 0; i < 5000; i++) {
    CHECK_OK(petal_builder_add_u64(builder, i));
    CHECK_OK(petal_builder_add_u64(other, i));
  }
  /* On a failure the keys and the old file stay. */
  CHECK_STATUS(petal_builder_save(builder, check_path("no/such/folder"), NULL), PETAL_ERR_NOT_FOUND);
  CHECK_STATUS(petal_builder_save(builder, check_path("."), NULL), PETAL_ERR_UNSUPPORTED);
  CHECK_EQUAL(keys_in(builder), 5000);
#ifdef _WIN32
  /* The system may refuse to replace a file that is mapped. Then the keys and the old file stay too. */
  petal_status status = petal_builder_save(builder, path, NULL);
  if (status != PETAL_OK) {
    CHECK_STATUS(status, PETAL_ERR_ACCESS_DENIED);
    CHECK_EQUAL(keys_in(builder), 5000);
    CHECK(check_same_bits(mapped_old, old));
    petal_filter *copy = NULL;
    CHECK_OK(petal_filter_copy(old, &copy, NULL));
    petal_filter_free(mapped_old);
    mapped_old = copy;
    CHECK_OK(petal_builder_save(builder, path, NULL));
  }
#else
  CHECK_OK(petal_builder_save(builder, path, NULL));
#endif
  CHECK_EQUAL(keys_in(builder), 0);
  new = finish(other);
  CHECK_OK(petal_filter_open(path, NULL, &mapped_new, NULL));
  check_image image = check_take_image(new);
  CHECK(check_same_image(mapped_new, image));
  CHECK(check_same_bits(mapped_old, old));
  free(image.bytes);
  petal_filter_free(old);
  petal_filter_free(new);
  petal_filter_free(mapped_old);
  petal_filter_free(mapped_new);
  petal_builder_free(builder);
  petal_builder_free(other);
}

/* What is wrong with a spec is said before the keys come. */
/* Keys with their counts do the same as that many single keys, where the kind counts, and are otherwise refused. */
static void with_counts(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .false_positive_rate = 1e-6};
  petal_builder *builder = make(&spec, NULL);
  const uint64_t keys[] = {1, 2, 3, 1}, times[] = {1, 2, 0, 2};
  petal_error error = {.struct_size = sizeof error};
  petal_answers answers = ANSWERS(.bytes = NULL);
  if (!check_can(kind, PETAL_CAN_COUNT)) {
    CHECK_STATUS(petal_builder_add_times(builder, NUMBER(1), 2), PETAL_ERR_UNSUPPORTED);
    CHECK_STATUS(petal_builder_add_times_batch(builder, U64_KEYS(keys, 4), times, &answers, &error),
                 PETAL_ERR_UNSUPPORTED);
    CHECK_TEXT(error.message, "cannot count");
    CHECK(answers.done == 0 && keys_in(builder) == 0);
    petal_builder_free(builder);
    return;
  }
  CHECK_OK(petal_builder_add_times_batch(builder, U64_KEYS(keys, 4), times, &answers, NULL));
  CHECK_EQUAL(answers.done, 4);
  CHECK_OK(petal_builder_add_times(builder, "a", 1, 2));
  CHECK_OK(petal_builder_add_times(builder, NUMBER(2), 1));
  CHECK_OK(petal_builder_add_times_hash(builder, 7, 2));
  CHECK_EQUAL(keys_in(builder), 10);
  petal_filter *filter = finish(builder);
  const uint64_t expected[] = {3, 3, 0};
  for (uint64_t i = 0; i < 3; i++) {
    uint64_t count = 77;
    CHECK_OK(petal_filter_count_u64(filter, i + 1, &count));
    CHECK_EQUAL(count, expected[i]);
  }
  petal_filter_free(filter);
  petal_builder_free(builder);
}

/* Excluded keys are not in the filter, where the kind takes them, and are otherwise refused. */
static void with_excluded(void) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_EXACT_SET};
  petal_builder *builder = make(&spec, NULL);
  uint64_t keys[1000];
  for (uint64_t i = 0; i < 1000; i++) keys[i] = i;
  petal_answers answers = ANSWERS(.bytes = NULL);
  petal_error error = {.struct_size = sizeof error};
  CHECK_OK(petal_builder_add_batch(builder, U64_KEYS(keys, 30), NULL, NULL));
  CHECK_OK(petal_builder_exclude_batch(builder, U64_KEYS(keys + 30, 970), &answers, &error));
  CHECK_EQUAL(answers.done, 970);
  CHECK_OK(petal_builder_add(builder, "member", 6));
  CHECK_OK(petal_builder_exclude(builder, "excluded", 8));
  CHECK_OK(petal_builder_exclude(builder, NUMBER(1000)));
  CHECK_OK(petal_builder_exclude_hash(builder, 77));
  CHECK_EQUAL(keys_in(builder), 31);
  petal_filter *filter = finish(builder);
  for (uint64_t i = 0; i <= 1000; i++) CHECK(petal_filter_contains_u64(filter, i) == (i < 30));
  CHECK(petal_filter_contains(filter, "member", 6) && !petal_filter_contains(filter, "excluded", 8));
  CHECK(!petal_filter_contains_hash(filter, 77));
  petal_filter_free(filter);

  CHECK_OK(petal_builder_add_u64(builder, 5));
  CHECK_OK(petal_builder_exclude(builder, NUMBER(5)));
  CHECK_STATUS(petal_builder_finish(builder, &filter, &error), PETAL_ERR_CONTRADICTION);
  CHECK_TEXT(error.message, "a member and excluded too; its hash is 0x");
  petal_builder_free(builder);

  spec.kind = PETAL_KIND_RIBBON;
  builder = make(&spec, NULL);
  CHECK_STATUS(petal_builder_exclude(builder, "a", 1), PETAL_ERR_UNSUPPORTED);
  CHECK_STATUS(petal_builder_exclude(builder, NUMBER(1)), PETAL_ERR_UNSUPPORTED);
  CHECK_STATUS(petal_builder_exclude_hash(builder, 1), PETAL_ERR_UNSUPPORTED);
  CHECK_STATUS(petal_builder_exclude_batch(builder, U64_KEYS(keys, 3), &answers, &error), PETAL_ERR_UNSUPPORTED);
  CHECK(answers.done == 0 && keys_in(builder) == 0);
  petal_builder_free(builder);
}

/* Keys whose first two bytes are their partition, and a filter that is brought up to date. */
static void by_partitions(void) {
  const petal_spec whole = {.struct_size = sizeof whole, .kind = PETAL_KIND_EXACT_SET};
  petal_spec spec = whole;
  CHECK_OK(petal_spec_set(&spec, "partition_prefix_bytes", 2, NULL));
  petal_error error = {.struct_size = sizeof error};
  petal_filter *old = NULL;
  for (int round = 0; round < 2; round++) {
    petal_builder *builder = make(&spec, NULL);
    if (old != NULL) CHECK_OK(petal_builder_update(builder, old, &error));
    for (int i = 0; i < 6000; i++) {
      char key[16];
      const size_t length = (size_t)snprintf(key, sizeof key, "%s:%d", i % 3 ? "A1" : "B2", i);
      if (i % 300 == 1 || (round == 1 && i == 9)) CHECK_OK(petal_builder_add(builder, key, length));
      else CHECK_OK(petal_builder_exclude(builder, key, length));
    }
    CHECK_STATUS(petal_builder_add_hash(builder, 1), PETAL_ERR_UNSUPPORTED);
    CHECK_STATUS(petal_builder_exclude_hash(builder, 1), PETAL_ERR_UNSUPPORTED);
    petal_filter *filter = finish(builder);
    for (int i = 0; i < 6000; i++) {
      char key[16];
      const size_t length = (size_t)snprintf(key, sizeof key, "%s:%d", i % 3 ? "A1" : "B2", i);
      CHECK(petal_filter_contains(filter, key, length) == (i % 300 == 1 || (round == 1 && i == 9)));
    }
    /* A hash has no prefix. */
    CHECK(petal_filter_contains_hash(filter, 1));
    CHECK(!petal_filter_contains(filter, "C3:1", 4));
    petal_filter_free(old);
    old = filter;
    petal_builder_free(builder);
  }
  petal_builder *builder = make(&whole, NULL);
  CHECK_STATUS(petal_builder_update(builder, old, &error), PETAL_ERR_INCOMPATIBLE);
  petal_builder_free(builder);
  const petal_spec ribbon = {.struct_size = sizeof ribbon, .kind = PETAL_KIND_RIBBON};
  builder = make(&ribbon, NULL);
  CHECK_STATUS(petal_builder_update(builder, old, &error), PETAL_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, "ribbon cannot be brought up to date; a kind that can is exact_set");
  petal_builder_free(builder);
  petal_filter_free(old);
}

/* Frequent non-members, where the kind takes them; otherwise they are refused, and so are impossible weights. */
static void with_frequent(void) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_STACKED, .false_positive_rate = 0.01};
  petal_builder *builder = make(&spec, NULL);
  uint64_t keys[1000];
  double weights[1000];
  for (uint64_t i = 0; i < 1000; i++) {
    keys[i] = i;
    weights[i] = 1.0 / (double)(i + 1);
  }
  petal_answers answers = ANSWERS(.bytes = NULL);
  petal_error error = {.struct_size = sizeof error};
  CHECK_OK(petal_builder_add_batch(builder, U64_KEYS(keys, 30), NULL, NULL));
  CHECK_OK(petal_builder_add_frequent_batch(builder, U64_KEYS(keys + 30, 970), weights + 30, &answers, &error));
  CHECK_EQUAL(answers.done, 970);
  CHECK_OK(petal_builder_add_frequent_batch(builder, U64_KEYS(keys + 30, 970), NULL, NULL, NULL));
  CHECK_OK(petal_builder_add(builder, "member", 6));
  CHECK_OK(petal_builder_add_frequent(builder, "non_member", 8, 2.5));
  CHECK_OK(petal_builder_add_frequent(builder, NUMBER(1000), 1e-9));
  CHECK_OK(petal_builder_add_frequent_hash(builder, 77, 1e9));
  CHECK_EQUAL(keys_in(builder), 31);
  petal_filter *filter = finish(builder);
  for (uint64_t i = 0; i < 30; i++) CHECK(petal_filter_contains_u64(filter, i));
  CHECK(petal_filter_contains(filter, "member", 6));
  uint64_t wrong = 0;
  for (uint64_t i = 30; i < 1000; i++) wrong += petal_filter_contains_u64(filter, i);
  CHECK(wrong < 40);
  petal_filter_free(filter);

  const double wrong_weights[] = {0, -1, NAN, INFINITY, 1e-30, 1e30};
  for (size_t i = 0; i < sizeof wrong_weights / sizeof *wrong_weights; i++) {
    const double weight = wrong_weights[i];
    CHECK_STATUS(petal_builder_add_frequent(builder, "a", 1, weight), PETAL_ERR_OUT_OF_RANGE);
    CHECK_STATUS(petal_builder_add_frequent(builder, NUMBER(1), weight), PETAL_ERR_OUT_OF_RANGE);
    CHECK_STATUS(petal_builder_add_frequent_hash(builder, 1, weight), PETAL_ERR_OUT_OF_RANGE);
    CHECK_STATUS(petal_builder_add_frequent_batch(builder, U64_KEYS(keys, 1), &weight, &answers, &error),
                 PETAL_ERR_OUT_OF_RANGE);
    CHECK_TEXT(error.message, "weight = ");
    CHECK_EQUAL(answers.done, 0);
  }
  CHECK_OK(petal_builder_add_u64(builder, 5));
  CHECK_OK(petal_builder_add_frequent(builder, NUMBER(5), 1));
  CHECK_STATUS(petal_builder_finish(builder, &filter, &error), PETAL_ERR_CONTRADICTION);
  CHECK_TEXT(error.message, "a member and a frequent non-member too; its hash is 0x");
  petal_builder_free(builder);

  spec.kind = PETAL_KIND_RIBBON;
  builder = make(&spec, NULL);
  CHECK_STATUS(petal_builder_add_frequent(builder, "a", 1, 1), PETAL_ERR_UNSUPPORTED);
  CHECK_STATUS(petal_builder_add_frequent(builder, NUMBER(1), 1), PETAL_ERR_UNSUPPORTED);
  CHECK_STATUS(petal_builder_add_frequent_hash(builder, 1, 1), PETAL_ERR_UNSUPPORTED);
  CHECK_STATUS(petal_builder_add_frequent_batch(builder, U64_KEYS(keys, 3), NULL, &answers, &error),
               PETAL_ERR_UNSUPPORTED);
  CHECK(answers.done == 0 && keys_in(builder) == 0);
  petal_builder_free(builder);
}

static void refusals(void) {
  petal_spec wrong[] = {
      {.struct_size = sizeof *wrong, .false_positive_rate = 1},
      {.struct_size = sizeof *wrong, .hashes = 3},
      {.struct_size = sizeof *wrong, .bits = 4096},
      {.struct_size = sizeof *wrong, .hash = PETAL_HASH_SIPHASH13},
      {.struct_size = sizeof *wrong, .kind = 99},
  };
  static const petal_status statuses[] = {PETAL_ERR_FALSE_POSITIVE_RATE, PETAL_ERR_CONTRADICTION,
                                          PETAL_ERR_CONTRADICTION, PETAL_ERR_SECRET_MISSING, PETAL_ERR_UNKNOWN_VALUE};
  petal_builder *builder = NULL;
  for (size_t i = 0; i < 5; i++) CHECK_STATUS(petal_builder_new(&wrong[i], NULL, &builder, NULL), statuses[i]);
  CHECK(builder == NULL);

  petal_spec external = {.struct_size = sizeof external, .hash = PETAL_HASH_EXTERNAL};
  builder = make(&external, NULL);
  CHECK_STATUS(petal_builder_add(builder, "a", 1), PETAL_ERR_EXTERNAL_HASH);
  CHECK_STATUS(petal_builder_add_u64(builder, 1), PETAL_ERR_EXTERNAL_HASH);
  CHECK_EQUAL(keys_in(builder), 0);
  CHECK_OK(petal_builder_add_hash(builder, 1));
  CHECK_EQUAL(keys_in(builder), 1);
  petal_builder_free(builder);
  petal_builder_free(NULL);
}

#ifndef _WIN32
/* A disk without room, which a limit on the size of files stands for: the error names the folder, the keys that were
 * taken stay, and with room the builder goes on. */
static void full_disk(void) {
  enum { LIMIT = 1 << 20, FITS = 5 * LIMIT / 8, MORE = 50000 };
  static uint64_t keys[FITS + MORE];
  for (size_t i = 0; i < FITS + MORE; i++) keys[i] = i;
  petal_spec spec = {.struct_size = sizeof spec};
  petal_builder_options options = {.struct_size = sizeof options, .memory_limit = LIMIT,
                                   .temporary_directory = check_path(".")};
  petal_builder *builder = make(&spec, &options);
  petal_error error = {.struct_size = sizeof error};
  struct rlimit before, limit;
  CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
  limit = before;
  limit.rlim_cur = 2 * LIMIT + LIMIT / 2;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  petal_answers answers = ANSWERS(.done = 0);
  petal_status status = petal_builder_add_batch(builder, U64_KEYS(keys, FITS), &answers, &error);
  size_t added = answers.done;
  CHECK(status != PETAL_OK && status == error.status);
  CHECK_TEXT(error.message, check_path("."));
  CHECK_EQUAL(added, 3 * LIMIT / 8);
  CHECK_EQUAL(keys_in(builder), added);
  CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
  signal(SIGXFSZ, handler);

  CHECK_OK(petal_builder_add_batch(builder, U64_KEYS(keys + added, FITS + MORE - added), NULL, &error));
  petal_filter *filter = finish(builder);
  CHECK_OK(petal_filter_contains_batch(filter, U64_KEYS(keys, FITS + MORE), &answers, NULL));
  CHECK_EQUAL(answers.true_count, FITS + MORE);
  petal_description description = {.struct_size = sizeof description};
  CHECK_OK(petal_filter_describe(filter, &description, NULL));
  CHECK_EQUAL(description.capacity, FITS + MORE);
  petal_filter_free(filter);
  petal_builder_free(builder);
}
#endif

static check_image collected;

static bool collect(void *context, const void *bytes, size_t length) {
  if (context != &collected) return false;
  collected.bytes = realloc(collected.bytes, collected.length + length + 1);
  memcpy(collected.bytes + collected.length, bytes, length);
  collected.length += length;
  return true;
}

/* Two builders with shares of the keys make what one makes, and what no builder wrote changes nothing. */
static void shares(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .false_positive_rate = 0.005};
  petal_builder *one = make(&spec, NULL), *here = make(&spec, NULL), *there = make(&spec, NULL);
  for (uint64_t i = 0; i < 3000; i++) CHECK_OK(petal_builder_add_u64(one, i));
  for (uint64_t i = 500; i < 1000; i++) CHECK_OK(petal_builder_add_u64(one, i));
  for (uint64_t i = 0; i < 1000; i++) CHECK_OK(petal_builder_add_u64(here, i));
  for (uint64_t i = 500; i < 3000; i++) CHECK_OK(petal_builder_add_u64(there, i));
  petal_error error = {.struct_size = sizeof error};
  CHECK_STATUS(petal_builder_serialize_to(there, collect, NULL, &error), PETAL_ERR_CALLBACK);
  CHECK_OK(petal_builder_serialize_to(there, collect, &collected, NULL));
  CHECK_EQUAL(keys_in(there), 2500);
  CHECK_STATUS(petal_builder_merge(here, collected.bytes, collected.length - 1, &error), PETAL_ERR_TRUNCATED);
  CHECK_STATUS(petal_builder_merge(here, "", 0, &error), PETAL_ERR_FOREIGN);
  collected.bytes[100] ^= 1;
  CHECK_STATUS(petal_builder_merge(here, collected.bytes, collected.length, &error), PETAL_ERR_CORRUPT);
  collected.bytes[100] ^= 1;
  spec.seed = 1;
  petal_builder *other = make(&spec, NULL);
  CHECK_STATUS(petal_builder_merge(other, collected.bytes, collected.length, &error), PETAL_ERR_INCOMPATIBLE);
  petal_builder_free(other);
  CHECK_EQUAL(keys_in(here), 1000);
  CHECK_OK(petal_builder_merge(here, collected.bytes, collected.length, NULL));
  CHECK_EQUAL(keys_in(here), 3500);
  petal_filter *merged = finish(here), *expected = finish(one);
  check_image image = check_take_image(expected);
  CHECK(check_same_image(merged, image));
  free(image.bytes);
  petal_filter_free(merged);
  petal_filter_free(expected);
  petal_builder_free(one);
  petal_builder_free(here);
  petal_builder_free(there);
  free(collected.bytes);
  collected = (check_image){NULL, 0};
}

int main(void) {
  for (size_t k = 0; k < check_kind_count(); k++) {
    distinct_sizing(check_kind(k));
    shares(check_kind(k));
    with_counts(check_kind(k));
    if (check_can(check_kind(k), PETAL_CAN_INSERT)) given_sizes(check_kind(k));
    saving(check_kind(k));
    /* A tool takes seconds for each kind, so it has some of them. */
    if (check_scaled(100) >= 25 || k % 4 == 0) spilling(check_kind(k), 1 << 20);
  }
  /* Limits that are no power of two, and one that is never reached; too slow for a tool. */
  if (check_scaled(100) >= 25) {
    spilling(PETAL_KIND_BLOOM, (1 << 20) + 8);
    spilling(PETAL_KIND_BLOOM, (1 << 20) + 257);
    spilling(PETAL_KIND_BLOOM, UINT64_C(1) << 60);
  }
  batches();
  with_excluded();
  by_partitions();
  with_frequent();
#ifndef _WIN32
  full_disk();
#endif
  progress_and_cancel(0);
  progress_and_cancel(1 << 20);
  refusals();
  return check_done();
}
