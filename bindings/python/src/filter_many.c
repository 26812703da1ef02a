/* petal.Filter: many keys. */

#include "filter.h"

/* A function of the library in the form of batch_call. */
#define BATCH(name, function)                                                                                          \
  petal_status name(void *raw, const petal_keys *keys, const uint64_t *values, petal_answers *answers,                 \
                    petal_error *error) {                                                                              \
    (void)values;                                                                                                      \
    return function(raw, keys, answers, error);                                                                        \
  }

BATCH(filter_contains_batch, petal_filter_contains_batch)
BATCH(filter_insert_batch, petal_filter_insert_batch)
BATCH(filter_remove_batch, petal_filter_remove_batch)
BATCH(filter_count_batch, petal_filter_count_batch)
BATCH(filter_rejuvenate_batch, petal_filter_rejuvenate_batch)

/* Insertions by the functions for many threads are counted afterwards. */
petal_status filter_insert_shared_batch(void *raw, const petal_keys *keys, const uint64_t *values,
                                        petal_answers *answers, petal_error *error) {
  (void)values;
  petal_status status = petal_filter_insert_shared_batch(raw, keys, answers, error);
  return status == PETAL_OK ? petal_filter_add_insertions(raw, keys->count, error) : status;
}

static petal_status insert_times(void *raw, const petal_keys *keys, const uint64_t *values, petal_answers *answers,
                                 petal_error *error) {
  return petal_filter_insert_times_batch(raw, keys, values, answers, error);
}

static petal_status remove_times(void *raw, const petal_keys *keys, const uint64_t *values, petal_answers *answers,
                                 petal_error *error) {
  return petal_filter_remove_times_batch(raw, keys, values, answers, error);
}

const char contains_doc[] =
  "contains($self, keys, *, nulls='error', hashed=False)\n--\n\n"
  "Says of each key whether it may be in the filter; False is certain. The answers come in kind: an Arrow array of\n"
  "bools for Arrow arrays and streams, an array of NumPy for arrays of NumPy and for pandas, a Series for Polars, and\n"
  "otherwise a list. nulls='skip' answers False for nulls; nulls='error' refuses them. hashed=True says that the\n"
  "numbers are hashes of keys.";

PyObject *filter_contains_many(PyObject *object, PyObject *args, PyObject *kwargs) {
  handle *self = (handle *)object;
  source *keys = source_of_arguments(self->state, args, kwargs, NULL);
  return keys ? batch_answers(self, keys, false, filter_contains_batch, WANT_BOOLS) : NULL;
}

static PyObject *insert(PyObject *object, PyObject *args, PyObject *kwargs, int wanted) {
  handle *self = (handle *)object;
  bool shared;
  source *keys = source_of_arguments(self->state, args, kwargs, &shared);
  if (!keys) return NULL;
  shared |= self->shares;
  return batch_answers(self, keys, !shared, shared ? filter_insert_shared_batch : filter_insert_batch, wanted);
}

const char update_doc[] =
  "update($self, keys, *, nulls='error', hashed=False, shared=False)\n--\n\n"
  "Inserts many keys, in order: an Arrow array or stream, a buffer such as an array of NumPy, or any iterable.\n"
  "nulls='skip' leaves nulls out; nulls='error' refuses them. hashed=True says that the numbers are hashes of keys.\n"
  "shared=True lets other threads insert with shared=True and look up at the same time, for kinds with\n"
  "'insert_shared'. If an error comes half-way, the keys before it, rounded down to whole chunks, are in the filter.";

PyObject *filter_update(PyObject *object, PyObject *args, PyObject *kwargs) { return insert(object, args, kwargs, 0); }

const char add_many_doc[] =
  "add_many($self, keys, *, nulls='error', hashed=False, shared=False)\n--\n\n"
  "Inserts many keys as update() does, and says of each whether it was certainly new, in kind as contains() answers.";

PyObject *filter_add_many(PyObject *object, PyObject *args, PyObject *kwargs) {
  return insert(object, args, kwargs, WANT_BOOLS);
}

const char discard_many_doc[] =
  "discard_many($self, keys, *, nulls='error', hashed=False)\n--\n\n"
  "Removes one occurrence of each key, and says of each whether it may have been there, in kind as contains() answers.";

PyObject *filter_discard_many(PyObject *object, PyObject *args, PyObject *kwargs) {
  handle *self = (handle *)object;
  source *keys = source_of_arguments(self->state, args, kwargs, NULL);
  return keys ? batch_answers(self, keys, true, filter_remove_batch, WANT_BOOLS) : NULL;
}

const char count_many_doc[] =
  "count_many($self, keys, *, nulls='error', hashed=False)\n--\n\n"
  "Counts how often each key was inserted, in kind: an Arrow or NumPy array of uint64, or a list.";

PyObject *filter_count_many(PyObject *object, PyObject *args, PyObject *kwargs) {
  handle *self = (handle *)object;
  source *keys = source_of_arguments(self->state, args, kwargs, NULL);
  return keys ? batch_answers(self, keys, false, filter_count_batch, WANT_COUNTS) : NULL;
}

const char rejuvenate_many_doc[] =
  "rejuvenate_many($self, keys, *, nulls='error', hashed=False)\n--\n\n"
  "Restores the fingerprints of stored keys to full length, and says of each whether that changed it.";

PyObject *filter_rejuvenate_many(PyObject *object, PyObject *args, PyObject *kwargs) {
  handle *self = (handle *)object;
  source *keys = source_of_arguments(self->state, args, kwargs, NULL);
  return keys ? batch_answers(self, keys, true, filter_rejuvenate_batch, WANT_BOOLS) : NULL;
}

/* Parses (keys, times) and runs the call. */
static PyObject *with_times(PyObject *object, PyObject *args, PyObject *kwargs, batch_call call) {
  static char *words[] = {"keys", "times", "hashed", NULL};
  handle *self = (handle *)object;
  PyObject *given, *numbers, *result = NULL;
  int hashed = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$p", words, &given, &numbers, &hashed)) return NULL;
  source *keys = source_open(self->state, given, hashed, false);
  source *times = keys ? source_of_numbers(self->state, numbers, "times") : NULL;
  if (times) {
    answers into;
    answers_init(&into, self->state, source_answers_kind(keys), WANT_BOOLS);
    if (run_batch(self, keys, times, true, call, &into) == 0) result = answers_finish(&into, keys);
    answers_free(&into);
  }
  source_close(times);
  source_close(keys);
  return result;
}

const char add_times_doc[] =
  "add_times($self, keys, times, *, hashed=False)\n--\n\n"
  "Inserts each key as often as its element of times says, for kinds that count, and says which were new.";

PyObject *filter_add_times(PyObject *object, PyObject *args, PyObject *kwargs) {
  return with_times(object, args, kwargs, insert_times);
}

const char remove_times_doc[] =
  "remove_times($self, keys, times, *, hashed=False)\n--\n\n"
  "Removes each key as often as it is there, but no more than its element of times says, and says which may have been\n"
  "there.";

PyObject *filter_remove_times(PyObject *object, PyObject *args, PyObject *kwargs) {
  return with_times(object, args, kwargs, remove_times);
}
