/* PLANNING */
#include "check.h"

enum { ROOM = 64 };

static petal_plan_proposal proposals[ROOM] = {{.struct_size = sizeof(petal_plan_proposal)}};
static size_t count;

/* There is a proposal for each kind of filter that one can choose. */
static size_t all_filters(void) {
  size_t filters = 0;
  for (size_t i = 0; i < petal_kind_count(); i++) {
    petal_kind_info info = {.struct_size = sizeof info};
    CHECK_OK(petal_kind_get_at(i, &info, NULL));
    filters += info.handle == PETAL_HANDLE_FILTER && (info.flags & PETAL_IS_FOREIGN) == 0;
  }
  return filters;
}

/* Whether it needs the universe of the keys, which is not known, or forgets or loses keys, which nobody asked for. */
static bool is_not_meant(const petal_plan_request *request, petal_kind kind) {
  const uint64_t unasked = check_kind_info(kind).capabilities & ~request->capabilities;
  return (unasked & (PETAL_CAN_AGE | PETAL_MAY_LOSE_KEYS)) != 0 ||
         (check_has(kind, PETAL_TAKES_INTEGERS) && request->universe == 0);
}

static void plan(const petal_plan_request *request) {
  petal_error error = {.struct_size = sizeof error};
  petal_status status = petal_plan_propose(request, proposals, ROOM, &count, &error);
  check_that(status == PETAL_OK, __FILE__, __LINE__, "planning: %s", error.message);
  CHECK_EQUAL(count, all_filters());
  for (size_t i = 0; i < count; i++) {
    const petal_plan_proposal *p = &proposals[i];
    petal_kind_info info = {.struct_size = sizeof info};
    CHECK_OK(petal_kind_find(p->name, &info, NULL));
    CHECK_EQUAL(info.kind, p->kind);
    CHECK((p->status == PETAL_OK) == (p->reason[0] == '\0'));
    if (p->status != PETAL_OK) CHECK(p->bytes == 0 && p->bits_per_key == 0 && p->false_positive_rate == 0);
    if (i > 0 && p->status == PETAL_OK) CHECK_OK(proposals[i - 1].status);
  }
}

/* What is proposed is what one gets. */
static void rate(uint64_t keys, double rate_wanted) {
  petal_plan_request request = {.struct_size = sizeof request, .keys = keys, .false_positive_rate = rate_wanted};
  plan(&request);
  CHECK_OK(proposals[0].status);
  for (size_t i = 0; i < count && proposals[i].status == PETAL_OK; i++) {
    petal_plan_proposal p = proposals[i];
    petal_spec spec = {.struct_size = sizeof spec, .kind = p.kind, .capacity = keys,
                       .false_positive_rate = rate_wanted, .parameters = {p.setting}};
    petal_filter *filter = NULL;
    petal_description description = {.struct_size = sizeof description};
    double expected = -1;
    CHECK_OK(petal_filter_new(&spec, &filter, NULL));
    CHECK_OK(petal_filter_describe(filter, &description, NULL));
    CHECK_OK(petal_filter_expected_false_positive_rate(filter, keys, &expected, NULL));
    CHECK_EQUAL(p.bytes, description.bytes);
    CHECK_CLOSE(p.bits_per_key, (double)description.bits / (double)keys, 1e-9);
    CHECK_CLOSE(p.false_positive_rate, expected, 1e-12);
    CHECK(p.false_positive_rate <= rate_wanted && p.lines_per_lookup >= 1 && p.build_memory == 0);
    if (i > 0) CHECK(proposals[i - 1].bytes <= p.bytes);
    petal_filter_free(filter);
  }
}

/* A memory is kept to, and nearly used up. */
static void memory(uint64_t keys, uint64_t bytes) {
  petal_plan_request request = {.struct_size = sizeof request, .keys = keys, .memory = bytes};
  plan(&request);
  CHECK_OK(proposals[0].status);
  for (size_t i = 0; i < count && proposals[i].status == PETAL_OK; i++) {
    CHECK(proposals[i].bytes <= bytes && proposals[i].bytes > bytes / 2);
    if (i > 0) CHECK(proposals[i - 1].false_positive_rate <= proposals[i].false_positive_rate);
  }
}

static void what_does_not_fit(void) {
  /* No kind can do everything, and each says what it cannot. */
  petal_plan_request request = {.struct_size = sizeof request, .keys = 1000, .false_positive_rate = 0.01,
                                .capabilities = PETAL_CAN_REMOVE | PETAL_CAN_GROW};
  plan(&request);
  for (size_t i = 0; i < count; i++) {
    petal_kind_info info = {.struct_size = sizeof info};
    CHECK_OK(petal_kind_find(proposals[i].name, &info, NULL));
    bool can = (info.capabilities & request.capabilities) == request.capabilities && !is_not_meant(&request, info.kind);
    CHECK_STATUS(proposals[i].status, can ? PETAL_OK : PETAL_ERR_UNSUPPORTED);
  }
  /* Kinds that take no keys are proposed only where they will do. */
  for (uint32_t is_static = 0; is_static < 2; is_static++) {
    request = (petal_plan_request){.struct_size = sizeof request, .keys = 1000, .false_positive_rate = 0.01,
                                   .is_static = is_static};
    plan(&request);
    for (size_t i = 0; i < count; i++) {
      bool can = (is_static || check_can(proposals[i].kind, PETAL_CAN_INSERT))
          && !is_not_meant(&request, proposals[i].kind);
      CHECK_STATUS(proposals[i].status, can ? PETAL_OK : PETAL_ERR_UNSUPPORTED);
      /* Builders keep the keys of those that take none. */
      bool collects = can && !check_can(proposals[i].kind, PETAL_CAN_INSERT);
      CHECK((proposals[i].build_memory >= 8 * request.keys) == collects);
    }
  }
  request = (petal_plan_request){.struct_size = sizeof request, .keys = 1000000, .memory = 100,
                                 .is_static = 1};
  plan(&request);
  for (size_t i = 0; i < count; i++) {
    bool refused = is_not_meant(&request, proposals[i].kind);
    CHECK_STATUS(proposals[i].status, refused ? PETAL_ERR_UNSUPPORTED : PETAL_ERR_TOO_LARGE);
  }

  /* Where keys are integers below a bound, a bit for each of these is the smallest if they are few. */
  request = (petal_plan_request){.struct_size = sizeof request, .keys = 1000, .false_positive_rate = 0.01,
                                 .is_static = 1, .universe = 2000};
  plan(&request);
  CHECK(check_has(proposals[0].kind, PETAL_TAKES_INTEGERS) && proposals[0].false_positive_rate == 0);
  CHECK_CLOSE(proposals[0].bits_per_key, 2, 0);
  /* If few of them are members, two levels make no error in far fewer bits. */
  request.universe = 100000;
  plan(&request);
  for (size_t i = 0; i < count; i++) {
    if (proposals[i].kind == PETAL_KIND_EXACT_SET) {
      CHECK(proposals[i].false_positive_rate == 0 && proposals[i].bits_per_key < 10);
    }
  }
  request.universe = 999;
  CHECK_STATUS(petal_plan_propose(&request, proposals, ROOM, &count, NULL), PETAL_ERR_OUT_OF_RANGE);

  /* Where most lookups ask for keys that are known, fewer bits have the same rate, and the same memory a lower one. */
  request = (petal_plan_request){.struct_size = sizeof request, .keys = 100000, .false_positive_rate = 0.001,
                                 .is_static = 1, .frequent = 0.84};
  plan(&request);
  CHECK_EQUAL(proposals[0].kind, PETAL_KIND_STACKED);
  CHECK(proposals[0].false_positive_rate <= 0.001 && proposals[0].bits_per_key < 9);
  const uint64_t of_all = proposals[0].bytes;
  request.non_members = 1000;
  plan(&request);
  CHECK(proposals[0].kind == PETAL_KIND_STACKED && proposals[0].bytes <= of_all + 2000);
  request = (petal_plan_request){.struct_size = sizeof request, .keys = 100000, .memory = 120000, .is_static = 1,
                                 .frequent = 0.84, .non_members = 1000};
  plan(&request);
  CHECK_EQUAL(proposals[0].kind, PETAL_KIND_STACKED);
  CHECK(proposals[0].bytes <= 120000 && proposals[0].false_positive_rate < 1.0 / 512 * 0.2);
  for (double share = -0.1; share < 2; share += 1.3) {
    request.frequent = share;
    CHECK_STATUS(petal_plan_propose(&request, proposals, ROOM, &count, NULL), PETAL_ERR_OUT_OF_RANGE);
  }
  request.frequent = 0;
  CHECK_STATUS(petal_plan_propose(&request, proposals, ROOM, &count, NULL), PETAL_ERR_CONTRADICTION);

  /* Keys that come often: the same, or more room, or a kind that does not count so far. */
  request = (petal_plan_request){.struct_size = sizeof request, .keys = 1000, .false_positive_rate = 0.01,
                                 .capabilities = PETAL_CAN_COUNT};
  plan(&request);
  uint64_t smallest = proposals[0].bytes;
  CHECK_OK(proposals[0].status);
  request.times = 300;
  plan(&request);
  CHECK(proposals[0].status == PETAL_OK && proposals[0].bytes >= smallest);
  for (size_t i = 0; i < count; i++) {
    bool counts = check_can(proposals[i].kind, PETAL_CAN_COUNT) && !is_not_meant(&request, proposals[i].kind);
    if (proposals[i].status != PETAL_OK && counts) {
      CHECK_TEXT(proposals[i].reason, "300");
    }
  }

  /* A window: what is proposed keeps its rate at the worst moment, and may be made so. */
  request = (petal_plan_request){.struct_size = sizeof request, .keys = 100000, .false_positive_rate = 0.01,
                                 .capabilities = PETAL_CAN_AGE};
  plan(&request);
  CHECK_OK(proposals[0].status);
  for (size_t i = 0; i < count && proposals[i].status == PETAL_OK; i++) {
    petal_spec spec = {.struct_size = sizeof spec, .kind = proposals[i].kind, .capacity = 100000,
                       .false_positive_rate = 0.01};
    uint64_t bytes = 0;
    CHECK_OK(petal_spec_image_size(&spec, &bytes, NULL));
    CHECK_EQUAL(bytes, proposals[i].bytes);
    CHECK(check_can(proposals[i].kind, PETAL_CAN_AGE) && proposals[i].bits_per_key < 25);
    CHECK(proposals[i].false_positive_rate <= 0.01 && proposals[i].false_positive_rate > 0.008);
  }

  /* Fewer places than kinds hold the best. */
  request = (petal_plan_request){.struct_size = sizeof request, .keys = 1000, .false_positive_rate = 0.01};
  plan(&request);
  petal_plan_proposal one[2];
  memset(one, 0x5a, sizeof one);
  one[0].struct_size = sizeof one[0];
  CHECK_OK(petal_plan_propose(&request, one, 1, &count, NULL));
  CHECK_EQUAL(count, all_filters());
  CHECK_EQUAL(one[0].kind, proposals[0].kind);
  CHECK_EQUAL(((unsigned char *)&one[1])[0], 0x5a);
  CHECK_OK(petal_plan_propose(&request, one, 0, &count, NULL));
  CHECK_EQUAL(count, all_filters());

  /* The first one's size is the distance between them, for programs of a later version. */
  struct { petal_plan_proposal known; uint64_t later; } two[2];
  memset(two, 0x5a, sizeof two);
  two[0].known.struct_size = sizeof two[0];
  CHECK_OK(petal_plan_propose(&request, &two[0].known, 2, &count, NULL));
  CHECK_EQUAL(two[1].known.struct_size, sizeof two[0]);
  CHECK_EQUAL(two[1].known.kind, proposals[1].kind);
  CHECK_EQUAL(two[0].later, UINT64_C(0x5a5a5a5a5a5a5a5a));
}

int main(void) {
  for (uint64_t keys = 1; keys <= 10000000; keys *= 100) {
    rate(keys, 0.1);
    rate(keys, 0.01);
    rate(keys, 0.0001);
  }
  memory(1000, 4096);
  memory(1000000, 1 << 20);
  what_does_not_fit();
  return check_done();
}
