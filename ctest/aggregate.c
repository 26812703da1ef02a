/* AGGREGATES: meetings, what was told, results and images. */
#include "check.h"

static petal_aggregate *aggregate_of(uint64_t capacity, double rate, uint32_t states) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_AGGREGATE, .capacity = capacity};
  spec.false_positive_rate = rate;
  petal_aggregate *aggregate = NULL;
  CHECK_OK(petal_spec_set(&spec, "states", states, NULL));
  CHECK_OK(petal_aggregate_new(&spec, &aggregate, NULL));
  CHECK_EQUAL(petal_aggregate_state_count(aggregate), states);
  return aggregate;
}

static petal_aggregate_statistics results_of(const petal_aggregate *aggregate) {
  petal_aggregate_statistics results = PETAL_AGGREGATE_STATISTICS_INIT;
  CHECK_OK(petal_aggregate_get_statistics(aggregate, &results, NULL));
  return results;
}

/* The value of a participant in a state. */
static double value_of(uint64_t id, uint32_t state) { return (double)(check_key(id) % 1000) / 8 + state; }

/* A participant in `state` meets `ours`, citing what `theirs` remembers, and notes the answer. */
static petal_aggregate_answer add(petal_aggregate *ours, petal_aggregate *theirs, uint64_t id, uint32_t state) {
  uint32_t told[8];
  petal_aggregate_state_value previous[8];
  size_t count = 0;
  petal_aggregate_answer meeting = {9, 9};
  CHECK_OK(petal_aggregate_list_sent(theirs, NUMBER(1000), told, 8, &count, NULL));
  CHECK(count <= 8);
  for (size_t i = 0; i < count; i++) previous[i] = (petal_aggregate_state_value){told[i], value_of(id, told[i])};
  CHECK_OK(petal_aggregate_add(ours, NUMBER(id), state, value_of(id, state), previous, count, &meeting, NULL));
  CHECK_OK(petal_aggregate_record_sent(theirs, NUMBER(1000), state, &meeting, NULL));
  return meeting;
}

/* Participants come, are met again, change and leave, and the results are those of what they have. */
static void meetings(void) {
  enum { NUMBER = 50, STATES = 8 };
  petal_aggregate *ours = aggregate_of(NUMBER, 1e-9, STATES), *theirs[NUMBER];
  double sum = 0;
  for (uint64_t id = 0; id < NUMBER; id++) {
    theirs[id] = aggregate_of(NUMBER, 1e-9, STATES);
    CHECK_EQUAL(add(ours, theirs[id], id, 0).outcome, PETAL_AGGREGATE_OUTCOME_FIRST);
    CHECK_EQUAL(add(ours, theirs[id], id, 0).outcome, PETAL_AGGREGATE_OUTCOME_DUPLICATE);
    uint32_t state = (uint32_t)(id % STATES);
    petal_aggregate_answer meeting = add(ours, theirs[id], id, state);
    CHECK_EQUAL(meeting.outcome, state > 0 ? PETAL_AGGREGATE_OUTCOME_CHANGED : PETAL_AGGREGATE_OUTCOME_DUPLICATE);
    CHECK_EQUAL(meeting.replaced, 0);
    sum += value_of(id, state);
  }
  petal_aggregate_statistics results = results_of(ours);
  CHECK_EQUAL(results.count, NUMBER);
  CHECK_CLOSE(results.sum, sum, 0);
  CHECK_CLOSE(results.mean, sum / NUMBER, 0);
  CHECK_CLOSE(results.participants, NUMBER, 1e-3);
  CHECK(results.firsts == NUMBER && results.changes + results.duplicates == 2 * NUMBER);
  CHECK(results.refused_firsts == 0 && results.refused_changes == 0 && results.departures == 0);
  uint64_t with_state = 0;
  CHECK_OK(petal_aggregate_count_in_state(ours, 1, &with_state, NULL));
  CHECK_EQUAL(with_state, 7);

  /* A participant that lost its memory, or cites another value, is refused. */
  petal_aggregate_answer meeting;
  petal_aggregate_state_value wrong = {1, value_of(1, 1) + 1};
  CHECK_OK(petal_aggregate_add(ours, NUMBER(1), 2, value_of(1, 2), NULL, 0, &meeting, NULL));
  CHECK(meeting.outcome == PETAL_AGGREGATE_OUTCOME_REFUSED && meeting.replaced == 0);
  CHECK_OK(petal_aggregate_add(ours, NUMBER(1), 2, value_of(1, 2), &wrong, 1, &meeting, NULL));
  CHECK_EQUAL(meeting.outcome, PETAL_AGGREGATE_OUTCOME_REFUSED);
  results = results_of(ours);
  CHECK(results.refused_firsts == 1 && results.refused_changes == 1);
  CHECK_CLOSE(results.sum, sum, 0);

  bool left = true;
  CHECK_OK(petal_aggregate_remove(ours, NUMBER(1), 2, value_of(1, 2), &left, NULL));
  CHECK(!left);
  CHECK_OK(petal_aggregate_remove(ours, NUMBER(1), 1, value_of(1, 1), &left, NULL));
  CHECK(left);
  results = results_of(ours);
  CHECK(results.count == NUMBER - 1 && results.departures == 1);
  CHECK_CLOSE(results.sum, sum - value_of(1, 1), 0);
  CHECK_OK(petal_aggregate_clear(ours, NULL));
  results = results_of(ours);
  CHECK(results.count == 0 && results.mean != results.mean && results.maximum != results.maximum);
  for (uint64_t id = 0; id < NUMBER; id++) petal_aggregate_free(theirs[id]);
  petal_aggregate_free(ours);
}

/* Ids are bytes, numbers or hashes; both sides' calls have the three forms. */
static void ids(void) {
  petal_aggregate *aggregate = aggregate_of(10, 1e-9, 4);
  const uint64_t number = 7;
  const petal_spec spec = PETAL_SPEC_INIT;
  uint64_t hash = 0;
  CHECK_OK(petal_spec_hash(&spec, NUMBER(number), &hash, NULL));
  petal_aggregate_answer meeting = {9, 9};
  CHECK_OK(petal_aggregate_add(aggregate, &number, 8, 0, 2.5, NULL, 0, &meeting, NULL));
  CHECK_EQUAL(meeting.outcome, PETAL_AGGREGATE_OUTCOME_FIRST);
  CHECK_OK(petal_aggregate_add_hash(aggregate, hash, 0, 2.5, NULL, 0, &meeting, NULL));
  CHECK_EQUAL(meeting.outcome, PETAL_AGGREGATE_OUTCOME_DUPLICATE);
  uint32_t told[2] = {9, 9};
  size_t count = 9;
  CHECK_OK(petal_aggregate_record_sent(aggregate, &number, 8, 3, NULL, NULL));
  CHECK_OK(petal_aggregate_record_sent_hash(aggregate, hash, 1, NULL, NULL));
  CHECK_OK(petal_aggregate_list_sent(aggregate, &number, 8, told, 1, &count, NULL));
  CHECK(count == 2 && told[0] == 1 && told[1] == 9);
  CHECK_OK(petal_aggregate_list_sent_hash(aggregate, hash, told, 2, &count, NULL));
  CHECK(count == 2 && told[0] == 1 && told[1] == 3);
  meeting = (petal_aggregate_answer){PETAL_AGGREGATE_OUTCOME_CHANGED, 3};
  CHECK_OK(petal_aggregate_record_sent(aggregate, &number, 8, 0, &meeting, NULL));
  bool forgotten = false;
  CHECK_OK(petal_aggregate_forget_sent(aggregate, &number, 8, 0, &forgotten, NULL));
  CHECK(forgotten);
  CHECK_OK(petal_aggregate_forget_sent_hash(aggregate, hash, 1, &forgotten, NULL));
  CHECK(forgotten);
  CHECK_OK(petal_aggregate_forget_sent(aggregate, NUMBER(number), 3, &forgotten, NULL));
  CHECK(!forgotten);
  bool left = false;
  CHECK_OK(petal_aggregate_remove(aggregate, &number, 8, 0, 2.5, &left, NULL));
  CHECK(left);
  CHECK_OK(petal_aggregate_remove_hash(aggregate, hash, 0, 2.5, &left, NULL));
  CHECK(!left);
  petal_aggregate_free(aggregate);
}

/* Extremes say whether they are exact. */
static void extremes(void) {
  petal_aggregate *aggregate = aggregate_of(10, 1e-9, 2);
  petal_aggregate_answer meeting;
  for (uint64_t id = 0; id < 3; id++) {
    CHECK_OK(petal_aggregate_add(aggregate, NUMBER(id), 0, (double)id, NULL, 0, &meeting, NULL));
  }
  petal_aggregate_statistics results = results_of(aggregate);
  CHECK_CLOSE(results.maximum, 2, 0);
  CHECK_EQUAL(results.exact, PETAL_AGGREGATE_MAXIMUM_IS_EXACT | PETAL_AGGREGATE_MINIMUM_IS_EXACT);
  const petal_aggregate_state_value was = {0, 2};
  CHECK_OK(petal_aggregate_add(aggregate, NUMBER(2), 1, 0.5, &was, 1, &meeting, NULL));
  CHECK(meeting.outcome == PETAL_AGGREGATE_OUTCOME_CHANGED && meeting.replaced == 0);
  results = results_of(aggregate);
  CHECK_CLOSE(results.maximum, 2, 0);
  CHECK_CLOSE(results.minimum, 0, 0);
  CHECK_EQUAL(results.exact, PETAL_AGGREGATE_MINIMUM_IS_EXACT);
  CHECK_CLOSE(results.sum, 1.5, 0);
  petal_aggregate_free(aggregate);
}

/* At a high rate participants are refused, as many as are expected, and the estimate has them. */
static void false_positives(void) {
  enum { NUMBER = 20000 };
  petal_aggregate *aggregate = aggregate_of(NUMBER, 0.05, 1);
  petal_aggregate_answer meeting;
  for (uint64_t id = 0; id < NUMBER; id++) {
    CHECK_OK(petal_aggregate_add(aggregate, NUMBER(id), 0, 1, NULL, 0, &meeting, NULL));
    CHECK(meeting.outcome == PETAL_AGGREGATE_OUTCOME_FIRST || meeting.outcome == PETAL_AGGREGATE_OUTCOME_DUPLICATE ||
          meeting.outcome == PETAL_AGGREGATE_OUTCOME_REFUSED);
  }
  petal_aggregate_expected_errors errors = PETAL_AGGREGATE_EXPECTED_ERRORS_INIT;
  CHECK_OK(petal_aggregate_get_expected_errors(aggregate, NUMBER, &errors, NULL));
  petal_aggregate_statistics results = results_of(aggregate);
  const double missing = (double)(NUMBER - results.count), band = 4.5 * 16;
  CHECK_CLOSE(missing, errors.refused_firsts, band);
  CHECK_CLOSE(errors.bias, -errors.refused_firsts / NUMBER, 1e-12);
  CHECK(errors.false_positive_rate <= 0.05 && errors.false_positive_rate > 0.04);
  CHECK(errors.missed_changes > 0.9 * errors.false_positive_rate);
  CHECK(errors.missed_changes < 1.1 * errors.false_positive_rate);
  CHECK_CLOSE(results.participants, NUMBER, band);
  petal_aggregate_free(aggregate);
}

/* Counts the bytes of an image that comes in pieces. */
static bool add_length(void *context, const void *bytes, size_t length) {
  *(uint64_t *)context += length;
  return bytes != NULL;
}

/* Images in memory, in buffers and in files. */
static void images(void) {
  petal_aggregate *aggregate = aggregate_of(30, 0.01, 4), *loaded = NULL, *in_place = NULL;
  petal_aggregate_answer meeting;
  for (uint64_t id = 0; id < 30; id++) {
    CHECK_OK(petal_aggregate_add(aggregate, NUMBER(id), (uint32_t)id % 4, value_of(id, 1), NULL, 0, &meeting, NULL));
  }
  uint64_t size = 0;
  size_t written = 0;
  CHECK_OK(petal_aggregate_serialized_size(aggregate, &size, NULL));
  uint64_t *image = calloc((size_t)size / 8 + 1, 8);
  CHECK_OK(petal_aggregate_serialize(aggregate, image, (size_t)size, &written, NULL));
  CHECK_EQUAL(written, size);
  uint64_t in_pieces = 0;
  CHECK_OK(petal_aggregate_serialize_to(aggregate, add_length, &in_pieces, NULL));
  CHECK_EQUAL(in_pieces, size);
  CHECK_OK(petal_aggregate_load(image, (size_t)size, NULL, &loaded, NULL));
  CHECK_OK(petal_aggregate_verify(loaded, NULL));
  CHECK_CLOSE(results_of(loaded).sum, results_of(aggregate).sum, 0);
  petal_description description = PETAL_DESCRIPTION_INIT;
  CHECK_OK(petal_aggregate_describe(loaded, &description, NULL));
  CHECK(description.kind == PETAL_KIND_AGGREGATE && description.insertions == results_of(loaded).count);
  petal_aggregate_free(loaded);

  petal_open_options options = {.struct_size = sizeof options, .mode = PETAL_OPEN_WRITE};
  CHECK_OK(petal_aggregate_open_in_buffer(image, (size_t)size, &options, &in_place, NULL));
  CHECK_OK(petal_aggregate_add(in_place, NUMBER(1000), 0, 1, NULL, 0, &meeting, NULL));
  CHECK_OK(petal_aggregate_sync(in_place, NULL));
  CHECK_OK(petal_aggregate_mark_clean(in_place, NULL));
  petal_aggregate_free(in_place);
  options.mode = PETAL_OPEN_READ;
  CHECK_OK(petal_aggregate_open_in_buffer(image, (size_t)size, &options, &in_place, NULL));
  CHECK_EQUAL(results_of(in_place).count, results_of(aggregate).count + 1);
  CHECK_STATUS(petal_aggregate_add(in_place, NUMBER(1001), 0, 1, NULL, 0, &meeting, NULL),
               PETAL_ERR_UNSUPPORTED_BY_HANDLE);
  CHECK_OK(petal_aggregate_copy(in_place, &loaded, NULL));
  CHECK_OK(petal_aggregate_add(loaded, NUMBER(1001), 0, 1, NULL, 0, &meeting, NULL));
  petal_aggregate_free(loaded);
  petal_aggregate_free(in_place);

  const char *path = check_path("aggregate.petal");
  CHECK_OK(petal_aggregate_save(aggregate, path, NULL));
  CHECK_OK(petal_aggregate_open(path, NULL, &loaded, NULL));
  CHECK_CLOSE(results_of(loaded).sum, results_of(aggregate).sum, 0);
  petal_aggregate_free(loaded);
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  CHECK_OK(petal_aggregate_open_descriptor(check_descriptor(fileno(file)), 0, NULL, &loaded, NULL));
  fclose(file);
  CHECK_CLOSE(results_of(loaded).sum, results_of(aggregate).sum, 0);
  petal_aggregate_free(loaded);
  petal_filter *filter = NULL;
  CHECK_STATUS(petal_filter_open(path, NULL, &filter, NULL), PETAL_ERR_UNSUPPORTED);

  /* Damage is refused. */
  ((unsigned char *)image)[300] ^= 1;
  loaded = NULL;
  CHECK_STATUS(petal_aggregate_load(image, (size_t)size, NULL, &loaded, NULL), PETAL_ERR_CORRUPT);
  CHECK_STATUS(petal_aggregate_load(image, 100, NULL, &loaded, NULL), PETAL_ERR_TRUNCATED);
  CHECK(loaded == NULL);
  free(image);
  petal_aggregate_free(aggregate);
}

/* Errors name the parameter, its value and what is allowed. */
static void errors(void) {
  petal_aggregate *aggregate = aggregate_of(10, 0.01, 3);
  petal_error error = {.struct_size = sizeof error};
  petal_aggregate_answer meeting = {9, 9};
  const double zero = 0;
  CHECK_STATUS(petal_aggregate_add(aggregate, NUMBER(1), 3, 1, NULL, 0, &meeting, &error), PETAL_ERR_OUT_OF_RANGE);
  CHECK_TEXT(error.message, "state = 3 is not one of 0 to 2");
  CHECK_STATUS(petal_aggregate_add(aggregate, NUMBER(1), 0, zero / zero, NULL, 0, &meeting, &error),
               PETAL_ERR_OUT_OF_RANGE);
  CHECK_TEXT(error.message, "not a finite number");
  CHECK(meeting.outcome == 9);
  CHECK_STATUS(petal_aggregate_record_sent(aggregate, NUMBER(1), 0, &meeting, &error), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_TEXT(error.message, "outcome = 9");
  petal_spec spec = {.struct_size = sizeof spec, .capacity = 10, .kind = PETAL_KIND_BLOOM};
  petal_aggregate *none = NULL;
  CHECK_STATUS(petal_aggregate_new(&spec, &none, &error), PETAL_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, "bloom is a kind of filter, not of aggregate");
  CHECK(none == NULL);
  petal_aggregate_free(aggregate);
}

int main(void) {
  meetings();
  ids();
  extremes();
  false_positives();
  images();
  errors();
  return check_done();
}
