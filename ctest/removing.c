/* FILTERS: REMOVING AND COUNTING, against an exact multiset: for every kind that removes and counts. */
#include "check.h"

enum { KEYS = 500, STEPS = 20000, BATCH = 300 };

/* Whether a kind holds keys as often as they come, up to a counter's end. */
static bool takes_any(petal_kind kind) { return check_kind_info(kind).most_copies == 0; }

static petal_filter *make(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = 40 * KEYS};
  petal_filter *filter = NULL;
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  return filter;
}

static uint64_t count(const petal_filter *filter, uint64_t key) {
  uint64_t times = 77;
  CHECK_OK(petal_filter_count_u64(filter, key, &times));
  return times;
}

static petal_statistics statistics(const petal_filter *filter) {
  petal_statistics all = {.struct_size = sizeof all};
  CHECK_OK(petal_filter_get_statistics(filter, &all, NULL));
  return all;
}

/* No key is lost, no count is too low, and what was never there is refused. */
static void multiset(petal_kind kind) {
  petal_filter *filter = make(kind), *again = make(kind);
  uint64_t times[KEYS] = {0}, all = 0;
  for (uint64_t step = 0; step < STEPS; step++) {
    const uint64_t i = check_key(step) % KEYS, key = check_key(i);
    bool answer = false;
    if (times[i] < 4 && check_key(step + STEPS) % 2 == 0) {
      const bool seemed = petal_filter_contains_u64(filter, key);
      CHECK_OK(petal_filter_insert_u64(filter, key, &answer));
      CHECK_EQUAL(answer, !seemed);
      times[i]++;
      all++;
    } else if (times[i] > 0) {
      CHECK_OK(petal_filter_remove_u64(filter, key, &answer));
      CHECK(answer);
      times[i]--;
      all--;
    } else if (!petal_filter_contains_u64(filter, key)) {
      answer = true;
      CHECK_OK(petal_filter_remove_u64(filter, key, &answer));
      CHECK(!answer);
    }
    CHECK(count(filter, key) >= times[i]);
  }
  for (uint64_t i = 0; i < KEYS; i++) {
    CHECK(count(filter, check_key(i)) >= times[i]);
    for (uint64_t n = 0; n < times[i]; n++) CHECK_OK(petal_filter_insert_u64(again, check_key(i), NULL));
  }
  CHECK_EQUAL(check_keys(filter), all);
  CHECK_EQUAL(statistics(filter).saturated, 0);
  if (check_has(kind, PETAL_IS_CANONICAL)) CHECK(check_same_bits(filter, again));
  for (uint64_t i = 0; i < KEYS; i++) {
    for (uint64_t n = 0; n < times[i]; n++) CHECK_OK(petal_filter_remove_u64(filter, check_key(i), NULL));
  }
  CHECK_EQUAL(check_keys(filter), 0);
  CHECK_CLOSE(statistics(filter).fill, 0.0, 0.0);
  petal_filter_free(filter);
  petal_filter_free(again);
}

/* The three forms of a key are one, and batches are many keys. */
static void forms(petal_kind kind) {
  petal_filter *filter = make(kind);
  uint64_t key = 5, hash = 0, times = 0, numbers[BATCH], counts[BATCH];
  uint8_t found[BATCH];
  bool removed = false;
  CHECK_OK(petal_filter_hash(filter, NUMBER(key), &hash));
  for (int i = 0; i < 3; i++) CHECK_OK(petal_filter_insert_u64(filter, key, NULL));
  CHECK_OK(petal_filter_count(filter, &key, sizeof key, &times));
  CHECK_EQUAL(times, 3);
  CHECK_OK(petal_filter_count_hash(filter, hash, &times));
  CHECK_EQUAL(times, 3);
  CHECK_OK(petal_filter_remove(filter, &key, sizeof key, NULL));
  CHECK_OK(petal_filter_remove_hash(filter, hash, &removed));
  CHECK(removed);
  CHECK_OK(petal_filter_remove_u64(filter, key, NULL));
  CHECK_OK(petal_filter_remove(filter, &key, sizeof key, &removed));
  CHECK(!removed);

  for (uint64_t i = 0; i < BATCH; i++) numbers[i] = check_key(i);
  CHECK_OK(petal_filter_insert_batch(filter, U64_KEYS(numbers, BATCH), NULL, NULL));
  CHECK_OK(petal_filter_insert_batch(filter, U64_KEYS(numbers, BATCH / 2), NULL, NULL));
  petal_answers answers = ANSWERS(.bytes = found, .counts = counts);
  CHECK_OK(petal_filter_count_batch(filter, U64_KEYS(numbers, BATCH), &answers, NULL));
  CHECK_EQUAL(answers.true_count, BATCH);
  CHECK_EQUAL(answers.done, BATCH);
  for (uint64_t i = 0; i < BATCH; i++) {
    CHECK_EQUAL(counts[i], count(filter, numbers[i]));
    CHECK(counts[i] >= (i < BATCH / 2 ? 2u : 1u) && found[i] == 1);
  }
  answers = ANSWERS(.bytes = found);
  CHECK_OK(petal_filter_remove_batch(filter, U64_KEYS(numbers, BATCH), &answers, NULL));
  CHECK_EQUAL(answers.true_count, BATCH);
  CHECK_OK(petal_filter_remove_batch(filter, U64_KEYS(numbers, BATCH / 2), NULL, NULL));
  CHECK_EQUAL(check_keys(filter), 0);
  CHECK_CLOSE(statistics(filter).fill, 0.0, 0.0);
  petal_filter_free(filter);
}

/* Inserting or removing a key several times in one call is the same as that many single calls. */
static void times(petal_kind kind) {
  petal_filter *filter = make(kind), *again = make(kind);
  uint64_t key = 5, hash = 0, removed = 77, numbers[BATCH], often[BATCH], counts[BATCH];
  uint8_t found[BATCH];
  bool is_new = false;
  CHECK_OK(petal_filter_hash(filter, NUMBER(key), &hash));
  CHECK_OK(petal_filter_insert_times(filter, &key, sizeof key, 2, &is_new));
  CHECK(is_new && count(filter, key) == 2);
  CHECK_OK(petal_filter_insert_times(filter, NUMBER(key), 1, &is_new));
  CHECK_OK(petal_filter_insert_times_hash(filter, hash, 1, NULL));
  CHECK(!is_new && count(filter, key) == 4);
  CHECK_OK(petal_filter_insert_times(filter, NUMBER(key), 0, &is_new));
  CHECK(!is_new && count(filter, key) == 4);
  CHECK_EQUAL(check_keys(filter), 4);
  CHECK_OK(petal_filter_remove_times(filter, &key, sizeof key, 1, &removed));
  CHECK_EQUAL(removed, 1);
  CHECK_OK(petal_filter_remove_times_hash(filter, hash, 2, &removed));
  CHECK_EQUAL(removed, 2);
  CHECK_OK(petal_filter_remove_times(filter, NUMBER(key), UINT64_MAX, &removed));
  CHECK_EQUAL(removed, 1);
  CHECK_OK(petal_filter_remove_times(filter, NUMBER(key), 3, &removed));
  CHECK_EQUAL(removed, 0);
  CHECK_EQUAL(check_keys(filter), 0);
  CHECK(check_same_bits(filter, again));

  for (uint64_t i = 0; i < BATCH; i++) {
    numbers[i] = check_key(i);
    often[i] = 1 + i % 3;
    for (uint64_t n = 0; n < often[i]; n++) CHECK_OK(petal_filter_insert_u64(again, numbers[i], NULL));
  }
  petal_answers answers = ANSWERS(.bytes = found);
  CHECK_OK(petal_filter_insert_times_batch(filter, U64_KEYS(numbers, BATCH), often, &answers, NULL));
  CHECK_EQUAL(answers.done, BATCH);
  CHECK(answers.true_count > BATCH - 10 && check_keys(filter) == check_keys(again));
  if (check_has(kind, PETAL_IS_CANONICAL)) CHECK(check_same_bits(filter, again));
  answers = ANSWERS(.counts = counts);
  CHECK_OK(petal_filter_count_batch(filter, U64_KEYS(numbers, BATCH), &answers, NULL));
  for (uint64_t i = 0; i < BATCH; i++) CHECK(counts[i] >= often[i]);
  petal_error error = {.struct_size = sizeof error};
  answers = ANSWERS(.bytes = found);
  CHECK_OK(petal_filter_remove_times_batch(filter, U64_KEYS(numbers, BATCH), often, &answers, &error));
  CHECK_EQUAL(answers.true_count, BATCH);
  CHECK_EQUAL(check_keys(filter), 0);
  CHECK_CLOSE(statistics(filter).fill, 0.0, 0.0);
  petal_filter_free(filter);
  petal_filter_free(again);
}

/* What ends at 15 stays, in memory and in an image. */
static void saturation(petal_kind kind) {
  petal_filter *filter = make(kind), *loaded = NULL;
  bool removed = false;
  for (int i = 0; i < 20; i++) CHECK_OK(petal_filter_insert_u64(filter, 1, NULL));
  CHECK_OK(petal_filter_insert_u64(filter, 2, NULL));
  if (count(filter, 1) == 20) {
    /* It does not end there, and nothing stays. */
    CHECK_EQUAL(statistics(filter).saturated, 0);
    for (int i = 0; i < 20; i++) CHECK_OK(petal_filter_remove_u64(filter, 1, NULL));
    CHECK_EQUAL(count(filter, 1), 0);
    petal_filter_free(filter);
    return;
  }
  CHECK_EQUAL(count(filter, 1), 15);
  CHECK(statistics(filter).saturated > 0);
  for (int i = 0; i < 30; i++) {
    CHECK_OK(petal_filter_remove_u64(filter, 1, &removed));
    CHECK(removed);
  }
  CHECK(count(filter, 1) == 15 && count(filter, 2) >= 1);
  check_image image = check_take_image(filter);
  CHECK_OK(petal_filter_load(image.bytes, image.length, NULL, &loaded, NULL));
  CHECK(check_same_bits(filter, loaded));
  CHECK_EQUAL(count(loaded, 1), 15);
  CHECK_OK(petal_filter_clear(loaded, NULL));
  CHECK_EQUAL(statistics(loaded).saturated, 0);
  free(image.bytes);
  petal_filter_free(filter);
  petal_filter_free(loaded);
}

/* One copy more than a kind holds is refused, and changes nothing. */
static void most_copies(petal_kind kind) {
  petal_filter *filter = make(kind);
  bool answer = true;
  uint64_t most = check_kind_info(kind).most_copies;
  for (uint64_t i = 0; i < most; i++) CHECK_OK(petal_filter_insert_u64(filter, 1, NULL));
  check_image before = check_take_image(filter);
  CHECK_STATUS(petal_filter_insert_u64(filter, 1, &answer), PETAL_ERR_FULL);
  petal_error error = {.struct_size = sizeof error};
  uint64_t keys[] = {2, 1, 3};
  petal_answers answers = ANSWERS(.bytes = NULL);
  check_image after = check_take_image(filter);
  CHECK(before.length == after.length && memcmp(before.bytes, after.bytes, after.length) == 0);
  CHECK_STATUS(petal_filter_insert_batch(filter, U64_KEYS(keys, 3), &answers, &error), PETAL_ERR_FULL);
  CHECK(answers.done == 1 && check_keys(filter) == most + 1);
  CHECK_EQUAL(count(filter, 1), most);
  CHECK_OK(petal_filter_remove_u64(filter, 1, &answer));
  CHECK(answer);
  CHECK_OK(petal_filter_insert_u64(filter, 1, &answer));
  CHECK(!answer);
  free(before.bytes);
  free(after.bytes);
  petal_filter_free(filter);
}

/* In a file that is written in place and opened again. */
static void in_place(petal_kind kind) {
  const char *path = check_path("removing.petal");
  petal_filter *filter = make(kind), *opened = NULL;
  for (uint64_t i = 0; i < KEYS; i++) CHECK_OK(petal_filter_insert_u64(filter, check_key(i), NULL));
  CHECK_OK(petal_filter_save(filter, path, NULL));
  petal_open_options options = {.struct_size = sizeof options, .mode = PETAL_OPEN_WRITE};
  if (check_has(kind, PETAL_MOVES_ENTRIES)) {
    CHECK_STATUS(petal_filter_open(path, &options, &opened, NULL), PETAL_ERR_UNSUPPORTED);
    petal_filter_free(filter);
    return;
  }
  CHECK_OK(petal_filter_open(path, &options, &opened, NULL));
  for (uint64_t i = 0; i < KEYS; i += 2) {
    bool removed = false;
    CHECK_OK(petal_filter_remove_u64(opened, check_key(i), &removed));
    CHECK(removed);
    CHECK_OK(petal_filter_remove_u64(filter, check_key(i), NULL));
  }
  CHECK_OK(petal_filter_sync(opened, NULL));
  petal_filter_free(opened);
  options.mode = PETAL_OPEN_READ;
  CHECK_OK(petal_filter_open(path, &options, &opened, NULL));
  CHECK_OK(petal_filter_verify(opened, NULL));
  CHECK(check_same_bits(filter, opened));
  CHECK_EQUAL(check_keys(opened), KEYS / 2);
  for (uint64_t i = 1; i < KEYS; i += 2) CHECK(count(opened, check_key(i)) >= 1);
  CHECK_STATUS(petal_filter_remove_u64(opened, check_key(1), NULL), PETAL_ERR_UNSUPPORTED_BY_HANDLE);
  petal_filter_free(opened);
  petal_filter_free(filter);
}

/* Kinds that remove and do not count, or count and do not remove: each does the one and refuses the other. */
static void one_of_both(const petal_kind_info *info) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = info->kind, .capacity = KEYS};
  petal_filter *filter = check_filled(&spec, 0, KEYS);
  if (info->capabilities & PETAL_CAN_REMOVE) {
    uint64_t times = 77;
    CHECK_STATUS(petal_filter_count_u64(filter, check_key(1), &times), PETAL_ERR_UNSUPPORTED);
    CHECK_STATUS(petal_filter_insert_times(filter, NUMBER(1), 2, NULL), PETAL_ERR_UNSUPPORTED);
    CHECK_EQUAL(times, 77);
    /* Kinds that may lose keys lose none by so few removals. */
    const uint64_t step = info->capabilities & PETAL_MAY_LOSE_KEYS ? KEYS / 2 : 2;
    for (uint64_t i = 0; i < KEYS; i += step) {
      bool removed = false;
      CHECK_OK(petal_filter_remove_u64(filter, check_key(i), &removed));
      CHECK(removed);
    }
    CHECK_EQUAL(check_keys(filter), KEYS - KEYS / step);
    for (uint64_t i = 0; i < KEYS; i++) {
      bool found = false;
      CHECK_OK(petal_filter_contains_checked_u64(filter, check_key(i), &found));
      CHECK(found || i % step == 0);
    }
  } else {
    uint64_t times = 0;
    bool removed = true;
    CHECK_STATUS(petal_filter_remove_u64(filter, check_key(1), &removed), PETAL_ERR_UNSUPPORTED);
    CHECK_OK(petal_filter_insert_times(filter, NUMBER(check_key(1)), 2, NULL));
    CHECK_OK(petal_filter_count_u64(filter, check_key(1), &times));
    CHECK(removed && times >= 3);
    CHECK_OK(petal_filter_count_u64(filter, check_key(2), &times));
    CHECK(times >= 1);
  }
  petal_filter_free(filter);
}

static uint64_t not_there(const petal_filter *filter, uint64_t keys) {
  uint64_t lost = 0;
  for (uint64_t i = 0; i < keys; i++) lost += !petal_filter_contains_u64(filter, check_key(i));
  return lost;
}

/* Keys of a filter that has grown since they came are found by fewer others once they are rejuvenated, and stay. */
static void rejuvenation(petal_kind kind) {
  enum { MANY = 50000 };
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = 100};
  petal_filter *filter = NULL, *forms[3] = {NULL, NULL, NULL}, *batch = NULL;
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  for (uint64_t i = 0; i < MANY; i++) CHECK_OK(petal_filter_insert_u64(filter, check_key(i), NULL));
  CHECK_OK(petal_filter_copy(filter, &batch, NULL));

  /* The three forms of a key are one; a second time there is nothing to do. */
  for (int i = 0; i < 3; i++) CHECK_OK(petal_filter_copy(filter, &forms[i], NULL));
  uint64_t key = check_key(0), hash = 0;
  CHECK_OK(petal_filter_hash(filter, NUMBER(key), &hash));
  for (int times = 0; times < 2; times++) {
    bool done[3] = {times == 1, times == 1, times == 1};
    CHECK_OK(petal_filter_rejuvenate(forms[0], &key, sizeof key, &done[0]));
    CHECK_OK(petal_filter_rejuvenate(forms[1], NUMBER(key), &done[1]));
    CHECK_OK(petal_filter_rejuvenate_hash(forms[2], hash, &done[2]));
    for (int i = 0; i < 3; i++) {
      CHECK_EQUAL(done[i], times == 0);
      CHECK(!check_same_bits(forms[i], filter) && check_same_bits(forms[i], forms[0]));
    }
  }
  for (int i = 0; i < 3; i++) petal_filter_free(forms[i]);

  double before = statistics(filter).false_positive_rate;
  uint64_t *numbers = malloc(MANY * sizeof *numbers), all = 0;
  for (uint64_t i = 0; i < MANY; i++) {
    bool rejuvenated = false;
    CHECK_OK(petal_filter_rejuvenate(filter, NUMBER(check_key(i)), &rejuvenated));
    all += rejuvenated;
    numbers[i] = check_key(i);
  }
  CHECK(all > MANY / 4 && statistics(filter).false_positive_rate < 0.9 * before);
  CHECK_EQUAL(check_keys(filter), MANY);
  CHECK_EQUAL(not_there(filter, MANY), 0);
  CHECK_OK(petal_filter_verify(filter, NULL));
  petal_error error = {.struct_size = sizeof error};
  petal_answers answers = ANSWERS(.bytes = NULL);
  CHECK_OK(petal_filter_rejuvenate_batch(batch, U64_KEYS(numbers, MANY), &answers, &error));
  CHECK_EQUAL(answers.true_count, all);
  CHECK_EQUAL(answers.done, MANY);
  CHECK(check_same_bits(filter, batch));
  CHECK_OK(petal_filter_rejuvenate_batch(batch, U64_KEYS(numbers, MANY), NULL, NULL));

  /* What certainly is not there is not rejuvenated, and what is removed afterwards is gone once. */
  for (uint64_t i = MANY; i < MANY + 1000; i++) {
    bool rejuvenated = true;
    if (petal_filter_contains_u64(filter, check_key(i))) continue;
    CHECK_OK(petal_filter_rejuvenate(filter, NUMBER(check_key(i)), &rejuvenated));
    CHECK(!rejuvenated);
  }
  if (check_can(kind, PETAL_CAN_REMOVE)) {
    for (uint64_t i = MANY / 2; i < MANY; i++) {
      bool removed = false;
      CHECK_OK(petal_filter_remove_u64(filter, check_key(i), &removed));
      CHECK(removed);
    }
    CHECK_EQUAL(check_keys(filter), MANY / 2);
    CHECK_EQUAL(not_there(filter, MANY / 2), 0);
  }
  free(numbers);
  petal_filter_free(batch);
  petal_filter_free(filter);
}

/* A kind that knows of all keys the same has nothing to rejuvenate, and says so. */
static void no_rejuvenation(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = 100};
  petal_filter *filter = check_filled(&spec, 0, 10), *before = NULL;
  CHECK_OK(petal_filter_copy(filter, &before, NULL));
  bool rejuvenated = true;
  uint64_t number = check_key(1), hash = 0;
  CHECK_OK(petal_filter_hash(filter, NUMBER(number), &hash));
  CHECK_STATUS(petal_filter_rejuvenate(filter, &number, sizeof number, &rejuvenated), PETAL_ERR_UNSUPPORTED);
  CHECK_STATUS(petal_filter_rejuvenate(filter, NUMBER(number), &rejuvenated), PETAL_ERR_UNSUPPORTED);
  CHECK_STATUS(petal_filter_rejuvenate_hash(filter, hash, &rejuvenated), PETAL_ERR_UNSUPPORTED);
  CHECK(rejuvenated);
  petal_error error = {.struct_size = sizeof error};
  petal_answers answers = ANSWERS(.bytes = NULL);
  CHECK_STATUS(petal_filter_rejuvenate_batch(filter, U64_KEYS(&number, 1), &answers, &error), PETAL_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, "cannot rejuvenate keys");
  CHECK_EQUAL(answers.done, 0);
  CHECK(check_same_bits(filter, before));
  petal_filter_free(before);
  petal_filter_free(filter);
}

/* Kinds that cannot say so, and answer nothing wrong. */
static void refused(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = 100};
  petal_filter *filter = NULL;
  if (petal_filter_new(&spec, &filter, NULL) != PETAL_OK) return;
  uint64_t times = 77, number = 1, counts[1] = {77};
  bool removed = true;
  CHECK_STATUS(petal_filter_remove_u64(filter, 1, &removed), PETAL_ERR_UNSUPPORTED);
  CHECK_STATUS(petal_filter_count_u64(filter, 1, &times), PETAL_ERR_UNSUPPORTED);
  CHECK(removed && times == 77);
  petal_error error = {.struct_size = sizeof error};
  petal_answers answers = ANSWERS(.counts = counts);
  CHECK_STATUS(petal_filter_count_batch(filter, U64_KEYS(&number, 1), &answers, &error), PETAL_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, "cannot count");
  CHECK(counts[0] == UINT64_MAX && answers.true_count == 1 && answers.done == 0);
  CHECK_STATUS(petal_filter_remove_batch(filter, U64_KEYS(&number, 1), NULL, &error), PETAL_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, "cannot remove");
  CHECK_STATUS(petal_filter_insert_times(filter, NUMBER(1), 2, &removed), PETAL_ERR_UNSUPPORTED);
  CHECK_STATUS(petal_filter_remove_times(filter, NUMBER(1), 2, &times), PETAL_ERR_UNSUPPORTED);
  CHECK(removed && times == 77);
  CHECK_STATUS(petal_filter_insert_times_batch(filter, U64_KEYS(&number, 1), &number, NULL, &error),
               PETAL_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, "counts");
  CHECK_STATUS(petal_filter_remove_times_batch(filter, U64_KEYS(&number, 1), &number, NULL, &error),
               PETAL_ERR_UNSUPPORTED);
  petal_filter_free(filter);
}

/* A filter with other parameters than the default ones can do no more than its kind, and says what it cannot do: that
 * is refused, and changes nothing. Returns how many such filters there are. */
static int choices(const petal_kind_info *info, uint32_t parameter) {
  petal_parameter_info described = {.struct_size = sizeof described};
  CHECK_OK(petal_kind_get_parameter(info->kind, parameter, &described, NULL));
  int less = 0;
  for (uint32_t choice = 0; choice < described.choice_count; choice++) {
    petal_spec spec = {.struct_size = sizeof spec, .kind = info->kind, .capacity = 100};
    spec.parameters[0] = (petal_setting){.id = described.id, .value = choice};
    petal_filter *filter = NULL;
    if (petal_filter_new(&spec, &filter, NULL) != PETAL_OK) continue;
    uint64_t can = petal_filter_capabilities(filter), lacks = info->capabilities & ~can;
    CHECK((can & ~info->capabilities) == 0);
    CHECK(choice != (uint32_t)described.default_value || lacks == 0);
    CHECK_OK(petal_filter_insert_u64(filter, 1, NULL));
    petal_filter *before = NULL;
    CHECK_OK(petal_filter_copy(filter, &before, NULL));
    petal_error error = {.struct_size = sizeof error};
    if (lacks & PETAL_CAN_REMOVE) {
      bool removed = true;
      CHECK_STATUS(petal_filter_remove_u64(filter, 1, &removed), PETAL_ERR_UNSUPPORTED);
      CHECK(removed);
      uint64_t number = 1;
      CHECK_STATUS(petal_filter_remove_batch(filter, U64_KEYS(&number, 1), NULL, &error), PETAL_ERR_UNSUPPORTED);
      CHECK_TEXT(error.message, described.name);
    }
    if (lacks & PETAL_CAN_MERGE) {
      CHECK_STATUS(petal_filter_merge(filter, before, &error), PETAL_ERR_UNSUPPORTED);
      CHECK_TEXT(error.message, described.name);
    }
    CHECK(check_same_bits(filter, before));
    less += lacks != 0;
    petal_filter_free(before);
    petal_filter_free(filter);
  }
  return less;
}

int main(void) {
  int less = 0;
  for (size_t i = 0; i < check_kind_count(); i++) {
    petal_kind_info info = check_kind_info(check_kind(i));
    if (!(info.capabilities & PETAL_CAN_INSERT) || (info.flags & PETAL_TAKES_INTEGERS)) continue;
    for (uint32_t p = 0; p < info.parameter_count; p++) less += choices(&info, p);
  }
  CHECK(less > 0);
  int rejuvenating = 0;
  for (size_t i = 0; i < check_kind_count(); i++) {
    petal_kind_info info = check_kind_info(check_kind(i));
    if (info.capabilities & PETAL_CAN_REJUVENATE) {
      rejuvenating++;
      rejuvenation(info.kind);
    } else {
      no_rejuvenation(info.kind);
    }
  }
  CHECK(rejuvenating > 0);
  for (size_t i = 0; i < check_kind_count(); i++) {
    petal_kind_info info = check_kind_info(check_kind(i));
    const uint64_t both = PETAL_CAN_REMOVE | PETAL_CAN_COUNT;
    if ((info.capabilities & both) == 0) refused(info.kind);
    if ((info.capabilities & both) != both) {
      if (info.capabilities & both) one_of_both(&info);
      continue;
    }
    multiset(info.kind);
    forms(info.kind);
    times(info.kind);
    if (takes_any(info.kind)) saturation(info.kind);
    if (!takes_any(info.kind)) most_copies(info.kind);
    in_place(info.kind);
  }
  return check_done();
}
