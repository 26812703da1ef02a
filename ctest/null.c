/* NULL in every place of every function. Required pointers give PETAL_ERR_NULL, nothing is written and no handle
 * changes; nullable ones are allowed; lookups say true. null_calls.h has the calls, which are written from the headers;
 * this has what they are given, what must hold after them, and the pointers that structs have. */
#include "check.h"

#include <petal_inline.h>
#include <petal_sketch.h>

/* What the next call may write to: places in one memory, and what is expected there afterwards. */
enum { ROOM = 1 << 15, MEMORY = 1 << 17 };
static uint64_t memory[MEMORY / 8], expected[MEMORY / 8];
static size_t used;

/* The next place, with these bytes in it; with bytes that no answer has where there are none. */
static void *place(const void *bytes, size_t length) {
  unsigned char *start = (unsigned char *)memory + used, *copy = (unsigned char *)expected + used;
  if (bytes != NULL) memcpy(start, bytes, length), memcpy(copy, bytes, length);
  used += (length + 127) / 64 * 64;
  CHECK(used <= MEMORY);
  return start;
}

/* What is expected of a place. */
static void *expected_at(const void *start) {
  return (unsigned char *)expected + ((const unsigned char *)start - (unsigned char *)memory);
}

static void *sized(size_t size, bool is_given) {
  unsigned char bytes[1024];
  CHECK(size <= sizeof bytes);
  memset(bytes, is_given ? 0 : 0x5a, sizeof bytes);
  memcpy(bytes, &size, sizeof size);
  return place(bytes, size);
}

#define OUTS(type, count) ((type *)place(NULL, (count) * sizeof(type)))
#define OUT(type) OUTS(type, 1)
#define FILLED(type) ((type *)sized(sizeof(type), false))
#define GIVEN(type) ((type *)sized(sizeof(type), true))

static void *room(void) { return place(NULL, ROOM); }

/* Handles that the next call is given, each with what it holds before the call, and those that the call makes. */
static struct {
  void *handle;
  void (*free)(void *handle);
  check_image (*image)(const void *handle);
  check_image before;
} given[8];
static struct {
  void *place;
  void (*free)(void *handle);
} made[2];
static size_t given_count, made_count;

static void *give(void *handle, void (*free)(void *), check_image (*image)(const void *)) {
  CHECK(handle != NULL && given_count < sizeof given / sizeof *given);
  given[given_count].handle = handle;
  given[given_count].free = free;
  given[given_count].image = image;
  given[given_count++].before = image(handle);
  return handle;
}

static void *make(void (*free)(void *)) {
  made[made_count].place = place(NULL, sizeof(void *));
  made[made_count].free = free;
  return made[made_count++].place;
}

#define NEW(name) ((petal_##name **)make(free_##name))

/* A handle, what it holds in `size` bytes that `call` writes to `image.bytes`, and a function that gives it. */
#define HANDLE(name, size, call)                                             \
  static void free_##name(void *handle) { petal_##name##_free(handle); }     \
  static check_image image_of_##name(const void *pointer) {                  \
    const petal_##name *handle = pointer;                                    \
    check_image image = {calloc(1, size), size};                             \
    call;                                                                    \
    return image;                                                            \
  }                                                                          \
  static petal_##name *give_##name(petal_##name *handle) {                   \
    return give(handle, free_##name, image_of_##name);                       \
  }

/* The same of a handle with images, and an image of it, also in a file. */
#define IMAGE(name)                                                                         \
  static size_t size_of_##name(const petal_##name *handle) {                                \
    uint64_t size = 0;                                                                      \
    CHECK_OK(petal_##name##_serialized_size(handle, &size, NULL));                          \
    return (size_t)size;                                                                    \
  }                                                                                         \
  HANDLE(name, size_of_##name(handle),                                                      \
         CHECK_OK(petal_##name##_serialize(handle, image.bytes, image.length, NULL, NULL))) \
  static check_image name##_image;                                                          \
  static void prepare_##name(petal_##name *handle) {                                        \
    name##_image = image_of_##name(handle);                                                 \
    CHECK_OK(petal_##name##_save(handle, check_path(#name), NULL));                         \
  }

IMAGE(filter)
IMAGE(map)
IMAGE(sketch)
IMAGE(router)
IMAGE(aggregate)
IMAGE(digest)
IMAGE(index)
HANDLE(builder, 8, CHECK_OK(petal_builder_key_count(handle, (uint64_t *)(void *)image.bytes, NULL)))
HANDLE(map_builder, 8, CHECK_OK(petal_map_builder_key_count(handle, (uint64_t *)(void *)image.bytes, NULL)))
HANDLE(index_builder, 8, (void)handle)
HANDLE(session, 8, image.bytes[0] = (unsigned char)petal_session_get_turn(handle))
HANDLE(stream, 8, image.bytes[0] = (unsigned char)petal_stream_symbols_written(handle))

/* What an error says, if the call has one. */
static petal_error failure;
static bool has_error;

static petal_error *error(void) {
  has_error = true;
  return &failure;
}

/* Answers of three keys, and what they are after a failure: nothing is done, and answers of insertions stay. */
static petal_answers *told, *wanted;

static petal_answers *numbers_only(void) {
  told = FILLED(petal_answers);
  wanted = expected_at(told);
  told->bytes = told->bitmap = NULL, told->counts = told->values = NULL;
  *wanted = *told;
  wanted->true_count = wanted->done = 0;
  return told;
}

static petal_answers *answers(void) {
  numbers_only();
  wanted->bytes = told->bytes = OUTS(uint8_t, 3);
  wanted->bitmap = told->bitmap = OUTS(uint8_t, 1);
  return told;
}

/* Those of a lookup, which are all true or all false then. */
static petal_answers *lookup(bool is_true) {
  answers();
  wanted->true_count = is_true ? 3 : 0;
  memset(expected_at(told->bytes), is_true, 3);
  memset(expected_at(told->bitmap), is_true ? 7 : 0, 1);
  return told;
}

static petal_answers *counts(void) {
  lookup(true);
  wanted->counts = told->counts = OUTS(uint64_t, 3);
  memset(expected_at(told->counts), 0xff, 3 * sizeof(uint64_t));
  return told;
}

static petal_answers *values(void) {
  lookup(false);
  wanted->values = told->values = OUTS(uint64_t, 3);
  memset(expected_at(told->values), 0, 3 * sizeof(uint64_t));
  return told;
}

/* Nobody knows how many answers there are of keys that are not given. */
static void answers_of_no_keys(void) {
  wanted->true_count = wanted->true_count == 3 ? UINT64_MAX : 0;
  if (told->bytes != NULL) memset(expected_at(told->bytes), 0x5a, 3), memset(expected_at(told->bitmap), 0x5a, 1);
  if (told->counts != NULL) memset(expected_at(told->counts), 0x5a, 3 * sizeof(uint64_t));
  if (told->values != NULL) memset(expected_at(told->values), 0x5a, 3 * sizeof(uint64_t));
}

/* Files: what a call saves, and what it opens by a descriptor. */
static FILE *file;

static const char *new_file(void) { return check_path("new"); }

static intptr_t opened(const char *path) {
  file = fopen(path, "rb");
  CHECK(file != NULL);
  return check_descriptor(fileno(file));
}

/* Makes ready for the next call. */
static void begin(void) {
  for (; given_count > 0; given_count--) {
    given[given_count - 1].free(given[given_count - 1].handle);
    free(given[given_count - 1].before.bytes);
  }
  if (file != NULL) fclose(file);
  file = NULL;
  remove(new_file());
  memset(memory, 0x5a, sizeof memory);
  memset(expected, 0x5a, sizeof expected);
  memset(&failure, '#', sizeof failure);
  failure.struct_size = sizeof failure;
  failure.status = PETAL_OK;
  failure.message[sizeof failure.message - 1] = '\0';
  used = made_count = 0;
  told = NULL;
  has_error = false;
}

/* Whether a call has left everything as it was. */
static void unchanged(const char *call, const char *in, int line) {
  check_that(memcmp(memory, expected, sizeof memory) == 0, in, line, "%s\n    wrote something", call);
  for (size_t i = 0; i < given_count; i++) {
    check_image now = given[i].image(given[i].handle);
    bool same = now.length == given[i].before.length && memcmp(now.bytes, given[i].before.bytes, now.length) == 0;
    check_that(same, in, line, "%s\n    changed a handle", call);
    free(now.bytes);
  }
  check_that(access(new_file(), F_OK) != 0, in, line, "%s\n    left a file", call);
  begin();
}

/* A call with NULL for the parameter of that name, or for all. */
static void refused(const char *name, petal_status status, const char *call, const char *in, int line) {
  char sentence[100];
  snprintf(sentence, sizeof sentence, "%s is NULL", name != NULL ? name : "");
  check_status(status, PETAL_ERR_NULL, call, in, line);
  check_that(!has_error || failure.status == PETAL_ERR_NULL, in, line, "%s\n    says something else", call);
  if (has_error) check_text(failure.message, sentence, in, line);
  if (told != NULL && name != NULL && strcmp(name, "keys") == 0) answers_of_no_keys();
  unchanged(call, in, line);
}

/* A call that must work, and whose error must stay; what it makes is freed. */
static void accepted(petal_status status, const char *call, const char *in, int line) {
  check_status(status, PETAL_OK, call, in, line);
  check_that(failure.status == PETAL_OK && failure.message[0] == '#', in, line, "%s\n    says an error", call);
  for (size_t i = 0; i < made_count && status == PETAL_OK; i++) {
    void *handle;
    memcpy(&handle, made[i].place, sizeof handle);
    made[i].free(handle);
  }
  begin();
}

/* A call without a status. */
static void gives(uint64_t wants, uint64_t got, const char *call, const char *in, int line) {
  check_equal(got, wants, call, in, line);
  unchanged(call, in, line);
}

#define REFUSED(name, call) refused(name, call, #call, __FILE__, __LINE__)
#define ACCEPTED(call) accepted(call, #call, __FILE__, __LINE__)
#define GIVES(value, call) gives((uint64_t)(value), (uint64_t)(call), #call, __FILE__, __LINE__)
#define CALLED(call) (void)(call), begin()

/* Keys, values and bytes. */
static const uint64_t three[] = {1, 2, 3};
static const double weights[] = {1, 1, 1};
static uint8_t text[1000];

static const petal_keys *keys(void) {
  petal_keys keys = petal_keys_u64(three, 3);
  return place(&keys, sizeof keys);
}

static const petal_keys *no_keys(void) {
  petal_keys keys = petal_keys_u64(NULL, 0);
  return place(&keys, sizeof keys);
}

static bool take(void *context, const void *bytes, size_t length) { return context != bytes || length == 0; }
static bool take_hit(void *context, const petal_index_hit *hit) { return context != hit; }
static bool take_row(void *context, uint64_t row, uint64_t id) { return context == NULL || row <= id; }

/* Specs, in memory that no call may write to. */
static petal_spec *spec_of(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = 100};
  return place(&spec, sizeof spec);
}

static petal_spec *spec_with(petal_kind kind, const char *name, double value) {
  petal_spec spec = *spec_of(kind);
  CHECK_OK(petal_spec_set(&spec, name, value, NULL));
  return place(&spec, sizeof spec);
}

static petal_spec *bits_of(petal_kind kind, uint64_t bits, uint32_t hashes) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .bits = bits, .hashes = hashes};
  return place(&spec, sizeof spec);
}

static petal_spec *hashes_of(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = 100, .hash = PETAL_HASH_EXTERNAL};
  return place(&spec, sizeof spec);
}

/* What has the three keys. */
static petal_filter *filter_of(petal_kind kind) {
  petal_keys keys = petal_keys_u64(three, 3);
  return give_filter(check_filled_with(spec_of(kind), &keys));
}

static petal_builder *builder_of(petal_kind kind) {
  petal_builder *builder = NULL;
  CHECK_OK(petal_builder_new(spec_of(kind), NULL, &builder, NULL));
  CHECK_OK(petal_builder_add_batch(builder, U64_KEYS(three, 3), NULL, NULL));
  return give_builder(builder);
}

static petal_map_builder *map_builder_of(const petal_spec *spec) {
  petal_map_builder *builder = NULL;
  CHECK_OK(petal_map_builder_new(spec, NULL, &builder, NULL));
  return give_map_builder(builder);
}

/* A map of a kind that starts empty, with numbers or hashes. */
static petal_map *map_of(const petal_spec *spec) {
  petal_map *map = NULL;
  CHECK_OK(petal_map_new(spec, &map, NULL));
  petal_keys keys = spec->hash == PETAL_HASH_EXTERNAL ? petal_keys_hashes(three, 3) : petal_keys_u64(three, 3);
  CHECK_OK(petal_map_put_batch(map, &keys, three, NULL, NULL));
  return give_map(map);
}

/* A map that is built. */
static petal_map *built_map(const petal_spec *spec) {
  petal_map *map = NULL;
  petal_map_builder *builder = NULL;
  CHECK_OK(petal_map_builder_new(spec, NULL, &builder, NULL));
  petal_keys keys = spec->hash == PETAL_HASH_EXTERNAL ? petal_keys_hashes(three, 3) : petal_keys_u64(three, 3);
  CHECK_OK(petal_map_builder_put_batch(builder, &keys, three, NULL, NULL));
  CHECK_OK(petal_map_builder_finish(builder, &map, NULL));
  petal_map_builder_free(builder);
  return give_map(map);
}

/* An empty sketch. */
static petal_sketch *sketch_of(const petal_spec *spec) {
  petal_sketch *sketch = NULL;
  CHECK_OK(petal_sketch_new(spec, &sketch, NULL));
  return give_sketch(sketch);
}

static petal_sketch *symbols(void) { return sketch_of(bits_of(PETAL_KIND_RIBLT, 1920, 0)); }
static petal_sketch *valued(void) { return sketch_of(spec_with(PETAL_KIND_IBLT, "value_bits", 64)); }
static petal_sketch *symbols_of_keys(void) { return sketch_of(spec_with(PETAL_KIND_RIBLT, "key_bytes", 8)); }

static petal_stream *stream_of(const petal_sketch *sketch) {
  petal_stream *stream = NULL;
  CHECK_OK(petal_stream_new(sketch, &stream, NULL));
  return give_stream(stream);
}

static petal_session *new_session(petal_session_role role) {
  petal_session *session = NULL;
  CHECK_OK(petal_session_new(symbols(), role, 0, &session, NULL));
  return session;
}

static petal_session *session_of(petal_session_role role) { return give_session(new_session(role)); }

/* A session that has ended. */
static petal_session *ended_session(void) {
  petal_session *first = new_session(PETAL_SESSION_ROLE_INITIATOR), *second = new_session(PETAL_SESSION_ROLE_RESPONDER);
  for (petal_session *from = first, *to = second; petal_session_get_turn(from) == PETAL_SESSION_TURN_SEND;) {
    const void *message;
    size_t length;
    CHECK_OK(petal_session_send(from, &message, &length, NULL));
    CHECK_OK(petal_session_receive(to, message, length, NULL));
    petal_session *sender = from;
    from = to;
    to = sender;
  }
  petal_session_free(second);
  return give_session(first);
}

/* A node by itself; node 1 or 2 of two. */
static petal_router *router_of(uint64_t node, uint64_t neighbour) {
  petal_router *router = NULL;
  CHECK_OK(petal_router_new(bits_of(PETAL_KIND_ROUTER, 64, 2), node, &router, NULL));
  CHECK_OK(petal_router_insert_batch(router, U64_KEYS(three, 3), NULL, NULL));
  if (neighbour > 0) CHECK_OK(petal_router_add_edge(router, neighbour, 0, 0, NULL));
  return give_router(router);
}

static petal_aggregate *a_aggregate(void) {
  petal_aggregate *aggregate = NULL;
  CHECK_OK(petal_aggregate_new(spec_of(PETAL_KIND_AGGREGATE), &aggregate, NULL));
  return give_aggregate(aggregate);
}

/* A digest of one payload, with another one that has begun or not. */
static petal_digest *digest_of(bool is_open) {
  petal_digest *digest = NULL;
  petal_spec spec = *spec_with(PETAL_KIND_DIGEST, "attachment_bytes", 10);
  spec.capacity = 10000;
  CHECK_OK(petal_digest_new(&spec, &digest, NULL));
  CHECK_OK(petal_digest_add(digest, 1, text, sizeof text, NULL));
  if (is_open) CHECK_OK(petal_digest_begin(digest, 2, NULL));
  return give_digest(digest);
}

/* An index of one row. */
static petal_index *a_index(void) {
  petal_index *index = NULL;
  CHECK_OK(petal_index_new(spec_with(PETAL_KIND_INDEX, "attachment_bytes", 10), &index, NULL));
  CHECK_OK(petal_index_add(index, 1, text, 128, NULL, NULL));
  return give_index(index);
}

static petal_index_builder *a_index_builder(void) {
  petal_index_builder *builder = NULL;
  CHECK_OK(petal_index_builder_new(spec_of(PETAL_KIND_INDEX), &builder, NULL));
  CHECK_OK(petal_index_builder_add(builder, 1, text, 128, NULL));
  return give_index_builder(builder);
}

static petal_filter *a_filter(void) { return filter_of(0); }
static petal_builder *a_builder(void) { return builder_of(0); }
static petal_map_builder *a_map_builder(void) { return map_builder_of(spec_of(0)); }
static petal_map *a_map(void) { return map_of(spec_of(PETAL_KIND_APPROXIMATOR)); }
static petal_sketch *a_sketch(void) { return sketch_of(spec_of(0)); }
static petal_stream *a_stream(void) { return stream_of(symbols()); }
static petal_session *a_session(void) { return session_of(PETAL_SESSION_ROLE_INITIATOR); }
static petal_router *a_router(void) { return router_of(1, 2); }
static petal_router *lone_router(void) { return router_of(1, 0); }
static petal_digest *a_digest(void) { return digest_of(false); }

/* One filter three times. */
static const petal_filter **filters(void) {
  const petal_filter *filter = a_filter(), *all[] = {filter, filter, filter};
  return place(all, sizeof all);
}

/* An empty filter of a single word. */
static const unsigned char guava[14] = {1, 1, 0, 0, 0, 1};

static petal_filter *imported(void) {
  petal_filter *filter = NULL;
  CHECK_OK(petal_filter_import("guava", guava, sizeof guava, NULL, &filter, NULL));
  return give_filter(filter);
}

static petal_plan_request *a_request(void) {
  petal_plan_request request = {.struct_size = sizeof request, .keys = 10, .false_positive_rate = 0.1};
  return place(&request, sizeof request);
}

static petal_router_walk_state *a_walk(void) {
  petal_router_walk_state walk = {.hops_left = 3};
  return place(&walk, sizeof walk);
}

static const petal_aggregate_answer met = {PETAL_AGGREGATE_OUTCOME_FIRST, 0};
static const petal_aggregate_state_value previous = {1, 1};

/* Bytes that calls read, each made once; an aligned copy where a call may change them. */
typedef struct {
  uint64_t words[1000];
  size_t length;
} made_bytes;
static made_bytes compact, packed_filter, packed_map, filter_delta, map_delta, builder_state, map_builder_state;
static made_bytes minisketch, streamed, hello, advertised;

static void *copied(check_image image) { return place(image.bytes, image.length); }

static void *keep(made_bytes *to, const void *bytes, size_t length) {
  CHECK(length <= sizeof to->words);
  to->length = length;
  return memcpy(to->words, bytes, length);
}

static bool append(void *context, const void *bytes, size_t length) {
  made_bytes *to = context;
  CHECK(to->length + length <= sizeof to->words);
  memcpy((char *)to->words + to->length, bytes, length);
  to->length += length;
  return true;
}

static const void **forms(void) {
  const void *all[] = {compact.words, compact.words, compact.words};
  return place(all, sizeof all);
}

static size_t *lengths(void) {
  size_t all[] = {compact.length, compact.length, compact.length};
  return place(all, sizeof all);
}

static void prepare(void) {
  for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)(check_key(i) >> 56);
  petal_filter *filter = a_filter(), *newer = a_filter();
  petal_map *map = a_map(), *newer_map = a_map();
  const size_t size = sizeof compact.words;
  prepare_filter(filter), prepare_map(map), prepare_sketch(a_sketch()), prepare_router(a_router());
  prepare_aggregate(a_aggregate());
  begin();
  prepare_digest(a_digest()), prepare_index(a_index());
  filter = a_filter(), newer = a_filter(), map = a_map(), newer_map = a_map();
  CHECK_OK(petal_filter_insert_u64(newer, 4, NULL));
  CHECK_OK(petal_map_put_u64(newer_map, 4, 4, NULL));
  CHECK_OK(petal_filter_serialize_compact(filter, compact.words, size, &compact.length, NULL));
  CHECK_OK(petal_filter_pack(filter, packed_filter.words, size, &packed_filter.length, NULL));
  CHECK_OK(petal_map_pack(map, packed_map.words, size, &packed_map.length, NULL));
  CHECK_OK(petal_filter_delta(filter, newer, filter_delta.words, size, &filter_delta.length, NULL));
  CHECK_OK(petal_map_delta(map, newer_map, map_delta.words, size, &map_delta.length, NULL));
  CHECK_OK(petal_builder_serialize_to(a_builder(), append, &builder_state, NULL));
  CHECK_OK(petal_map_builder_serialize_to(a_map_builder(), append, &map_builder_state, NULL));
  begin();
  const void *message;
  size_t length;
  CHECK_OK(petal_sketch_export_minisketch(sketch_of(spec_of(PETAL_KIND_PINSKETCH)), minisketch.words, size,
                                          &minisketch.length, NULL));
  CHECK_OK(petal_stream_write(a_stream(), 1, streamed.words, size, &streamed.length, NULL));
  CHECK_OK(petal_session_send(a_session(), &message, &length, NULL));
  keep(&hello, message, length);
  CHECK_OK(petal_router_advertise(router_of(2, 1), 1, &message, &length, NULL));
  keep(&advertised, message, length);
  begin();
}

#include "null_calls.h"

/* What is NULL inside a struct, and what has no length. */
static void inside_structs(void) {
  static const uint64_t offsets[] = {0, 1, 2, 3}, zeros[4];
  for (int i = 0; i < 3; i++) {
    const petal_keys bytes = petal_keys_bytes(NULL, 3, offsets, 3), numbers = petal_keys_u64(NULL, 3),
                     *keys = i == 0 ? &bytes : i == 1 ? &numbers : HASH_KEYS(NULL, 3);
    REFUSED("data of keys", petal_filter_contains_batch(a_filter(), keys, lookup(true), error()));
    REFUSED("data of keys", petal_filter_insert_batch(a_filter(), keys, answers(), error()));
    REFUSED("data of keys", petal_filter_insert_shared_batch(a_filter(), keys, answers(), error()));
    REFUSED("data of keys", petal_builder_add_batch(a_builder(), keys, numbers_only(), error()));
  }
  const petal_keys *keys = BYTE_KEYS("abc", 3, NULL, 3);
  REFUSED("offsets of keys", petal_filter_contains_batch(a_filter(), keys, lookup(true), error()));
  REFUSED("offsets of keys", petal_filter_insert_batch(a_filter(), keys, answers(), error()));

  /* Three empty keys in a buffer that is none; no keys. */
  ACCEPTED(petal_filter_insert_batch(a_filter(), BYTE_KEYS(NULL, 0, zeros, 3), numbers_only(), error()));
  ACCEPTED(petal_filter_insert_batch(a_filter(), U64_KEYS(NULL, 0), numbers_only(), error()));
  ACCEPTED(petal_filter_contains_batch(a_filter(), BYTE_KEYS(NULL, 0, NULL, 0), numbers_only(), error()));
  ACCEPTED(petal_filter_insert_shared_batch(a_filter(), U64_KEYS(NULL, 0), NULL, error()));
  ACCEPTED(petal_builder_add_batch(a_builder(), HASH_KEYS(NULL, 0), NULL, error()));
  ACCEPTED(petal_filter_contains_across(NULL, 0, NUMBER(1), numbers_only(), error()));

  GIVES(true, petal_filter_contains(NULL, NULL, 0));
  REFUSED("buffer", petal_filter_open_in_buffer(NULL, 0, NULL, NEW(filter), error()));
  REFUSED("image", petal_filter_load(NULL, 0, NULL, NEW(filter), error()));
}

int main(void) {
  begin();
  prepare();
  all_calls();
  inside_structs();
  return check_done();
}
