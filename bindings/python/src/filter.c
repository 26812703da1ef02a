/* petal.Filter: making one, one key, and what concerns the whole filter. */

#include "filter.h"

static PyObject *filter_make(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  return image_make(type, args, kwargs, &filter_calls, 0, "Filter()");
}

static PyObject *filter_open(PyObject *type, PyObject *args, PyObject *kwargs) {
  return image_open((PyTypeObject *)type, args, kwargs, &filter_calls);
}

static PyObject *filter_from_bytes(PyObject *type, PyObject *args, PyObject *kwargs) {
  return image_from_bytes((PyTypeObject *)type, args, kwargs, &filter_calls);
}

/* The slot of `in`. Reading the key may run code of Python, so it comes before the handle. */
static int filter_contains(PyObject *object, PyObject *item) {
  handle *self = (handle *)object;
  one_key key;
  if (one_key_of(item, &key) < 0) return -1;
  bool found = false;
  petal_status status = PETAL_OK;
  void *raw = handle_to_read(self);
  if (raw) {
    status = key.is_number ? petal_filter_contains_checked_u64(raw, key.number, &found)
                           : petal_filter_contains_checked(raw, key.data, key.length, &found);
  }
  one_key_done(&key);
  if (!raw) return -1;
  if (status == PETAL_OK) return found;
  raise_single(self, status, filter_contains_batch);
  return -1;
}

static petal_status insert_shared(void *raw, const one_key *key, bool *is_new) {
  petal_status status = key->is_number ? petal_filter_insert_shared_u64(raw, key->number, is_new)
                                       : petal_filter_insert_shared(raw, key->data, key->length, is_new);
  return status == PETAL_OK ? petal_filter_add_insertions(raw, 1, NULL) : status;
}

static const char add_doc[] =
  "add($self, key, /)\n--\n\nInserts a key: bytes, str (its UTF-8), or int from 0 to 2**64 - 1. Returns True if the key was\n"
  "certainly new, False if it may have been there.";

static PyObject *filter_add(PyObject *object, PyObject *item) {
  handle *self = (handle *)object;
  one_key key;
  if (one_key_of(item, &key) < 0) return NULL;
  bool is_new = false;
  petal_status status = PETAL_OK;
  void *raw = self->shares ? handle_to_read(self) : handle_to_change(self);
  if (!raw) {
    /* Nothing to do. */
  } else if (self->shares) {
    status = insert_shared(raw, &key, &is_new);
  } else if (key.is_number) {
    status = petal_filter_insert_u64(raw, key.number, &is_new);
  } else {
    status = petal_filter_insert(raw, key.data, key.length, &is_new);
  }
  one_key_done(&key);
  if (!raw) return NULL;
  if (status != PETAL_OK) return raise_single(self, status, filter_insert_batch);
  return PyBool_FromLong(is_new);
}

/* Removes a key: 1 or 0, or -1 with an exception. */
static int take_out(handle *self, PyObject *item) {
  one_key key;
  if (one_key_of(item, &key) < 0) return -1;
  bool removed = false;
  petal_status status = PETAL_OK;
  void *raw = handle_to_change(self);
  if (raw) {
    status = key.is_number ? petal_filter_remove_u64(raw, key.number, &removed)
                           : petal_filter_remove(raw, key.data, key.length, &removed);
  }
  one_key_done(&key);
  if (!raw) return -1;
  if (status == PETAL_OK) return removed;
  raise_single(self, status, filter_remove_batch);
  return -1;
}

static const char remove_doc[] =
  "remove($self, key, /)\n--\n\nRemoves one occurrence of a key, for kinds that remove. Raises KeyError if the key certainly is\n"
  "not there. Remove only keys that you inserted: another key may take from them.";

static PyObject *filter_remove(PyObject *object, PyObject *item) {
  int removed = take_out((handle *)object, item);
  if (removed < 0) return NULL;
  if (!removed) {
    PyErr_SetObject(PyExc_KeyError, item);
    return NULL;
  }
  Py_RETURN_NONE;
}

static const char discard_doc[] =
  "discard($self, key, /)\n--\n\nRemoves one occurrence of a key as remove() does; returns False if it certainly is not there.";

static PyObject *filter_discard(PyObject *object, PyObject *item) {
  int removed = take_out((handle *)object, item);
  return removed < 0 ? NULL : PyBool_FromLong(removed);
}

static const char count_doc[] =
  "count($self, key, /)\n--\n\nCounts how often a key was inserted, less how often it was removed, for kinds that count. 0 is\n"
  "certain.";

static PyObject *filter_count(PyObject *object, PyObject *item) {
  handle *self = (handle *)object;
  one_key key;
  if (one_key_of(item, &key) < 0) return NULL;
  uint64_t count = 0;
  petal_status status = PETAL_OK;
  void *raw = handle_to_read(self);
  if (raw) {
    status = key.is_number ? petal_filter_count_u64(raw, key.number, &count)
                           : petal_filter_count(raw, key.data, key.length, &count);
  }
  one_key_done(&key);
  if (!raw) return NULL;
  if (status != PETAL_OK) return raise_single(self, status, filter_count_batch);
  return PyLong_FromUnsignedLongLong(count);
}

static const char hash_doc[] =
  "hash($self, key, /)\n--\n\nThe 64-bit hash of a key as this filter makes it, for calls with hashed=True on filters that hash\n"
  "alike.";

static PyObject *filter_hash(PyObject *object, PyObject *item) {
  handle *self = (handle *)object;
  one_key key;
  if (one_key_of(item, &key) < 0) return NULL;
  uint8_t bytes[8];
  for (size_t i = 0; key.is_number && i < 8; i++) bytes[i] = (uint8_t)(key.number >> (8 * i));
  uint64_t hash = 0;
  petal_status status = PETAL_OK;
  void *raw = handle_to_read(self);
  if (raw) {
    status = petal_filter_hash(raw, key.is_number ? bytes : key.data, key.is_number ? 8 : key.length, &hash);
  }
  one_key_done(&key);
  if (!raw) return NULL;
  if (status != PETAL_OK) return raise_status(self->state, status, NULL, NULL);
  return PyLong_FromUnsignedLongLong(hash);
}

static const char statistics_doc[] =
  "statistics($self)\n--\n\nMeasures how full the filter is, as a petal.Statistics. Reads the whole payload.";

static PyObject *filter_statistics(PyObject *object, PyObject *unused) {
  (void)unused;
  handle *self = (handle *)object;
  if (handle_read(self) < 0) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_statistics statistics = PETAL_STATISTICS_INIT;
  petal_status status;
  Py_BEGIN_ALLOW_THREADS
  status = petal_filter_get_statistics(self->raw, &statistics, &error);
  Py_END_ALLOW_THREADS
  handle_end(self);
  if (status != PETAL_OK) return raise_status(self->state, status, &error, NULL);
  return statistics_record(self->state, &statistics);
}

static const char estimate_doc[] =
  "estimate($self)\n--\n\nEstimates how many distinct keys the filter holds, as a petal.Estimate with its error. Reads the\n"
  "whole payload.";

static PyObject *filter_estimate(PyObject *object, PyObject *unused) {
  (void)unused;
  handle *self = (handle *)object;
  if (handle_read(self) < 0) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_filter_estimate estimate;
  petal_status status;
  Py_BEGIN_ALLOW_THREADS
  status = petal_filter_get_estimate(self->raw, &estimate, &error);
  Py_END_ALLOW_THREADS
  handle_end(self);
  if (status != PETAL_OK) return raise_status(self->state, status, &error, NULL);
  return estimate_record(self->state, &estimate);
}

static const char clear_doc[] = "clear($self)\n--\n\nForgets all keys.";

static PyObject *filter_clear(PyObject *object, PyObject *unused) {
  (void)unused;
  handle *self = (handle *)object;
  if (handle_change(self) < 0) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status;
  Py_BEGIN_ALLOW_THREADS
  status = petal_filter_clear(self->raw, &error);
  Py_END_ALLOW_THREADS
  handle_end(self);
  if (status != PETAL_OK) return raise_status(self->state, status, &error, NULL);
  Py_RETURN_NONE;
}

/* Changes the filter by a call with a number. */
static PyObject *change_by_number(handle *self, PyObject *object, const char *what,
                                  petal_status (*call)(petal_filter *, uint64_t, petal_error *)) {
  uint64_t number;
  if (number_of(object, what, &number) < 0 || handle_change(self) < 0) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status;
  Py_BEGIN_ALLOW_THREADS
  status = call(self->raw, number, &error);
  Py_END_ALLOW_THREADS
  handle_end(self);
  if (status != PETAL_OK) return raise_status(self->state, status, &error, NULL);
  Py_RETURN_NONE;
}

static const char fold_doc[] =
  "fold($self, factor, /)\n--\n\nMakes the filter smaller by a whole factor, without its keys; its rate rises.";

static PyObject *filter_fold(PyObject *object, PyObject *factor) {
  return change_by_number((handle *)object, factor, "factor", petal_filter_fold);
}

static const char resize_doc[] =
  "resize($self, capacity, /)\n--\n\nGives the filter room for so many keys, without its keys, for kinds with 'resize'.";

static PyObject *filter_resize(PyObject *object, PyObject *capacity) {
  return change_by_number((handle *)object, capacity, "capacity", petal_filter_resize);
}

static petal_status advance_shared(petal_filter *raw, uint64_t steps, petal_error *error) {
  return petal_filter_advance_shared(raw, steps, error);
}

static const char advance_doc[] =
  "advance($self, steps, /)\n--\n\nMoves time on, for kinds that forget: each step forgets the keys that are oldest then.";

static PyObject *filter_advance(PyObject *object, PyObject *steps) {
  handle *self = (handle *)object;
  return change_by_number(self, steps, "steps", self->shares ? advance_shared : petal_filter_advance);
}

/* A number that follows from a number of keys. */
static PyObject *expected(handle *self, PyObject *object, const char *what,
                          petal_status (*call)(const petal_filter *, uint64_t, double *, petal_error *)) {
  uint64_t keys;
  if (number_of(object, what, &keys) < 0) return NULL;
  if (handle_read(self) < 0) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  double number = 0;
  petal_status status;
  Py_BEGIN_ALLOW_THREADS
  status = call(self->raw, keys, &number, &error);
  Py_END_ALLOW_THREADS
  handle_end(self);
  if (status != PETAL_OK) return raise_status(self->state, status, &error, NULL);
  return PyFloat_FromDouble(number);
}

static const char expected_rate_doc[] =
  "expected_false_positive_rate($self, keys, /)\n--\n\nThe false-positive rate to expect with so many distinct keys.";

static PyObject *filter_expected_rate(PyObject *object, PyObject *keys) {
  return expected((handle *)object, keys, "keys", petal_filter_expected_false_positive_rate);
}

static const char expected_negatives_doc[] =
  "expected_false_negative_rate($self, age, /)\n--\n\nThe probability that a key is not found after so many other keys came.";

static PyObject *filter_expected_negatives(PyObject *object, PyObject *age) {
  return expected((handle *)object, age, "age", petal_filter_expected_false_negative_rate);
}

static const char expected_omissions_doc[] =
  "expected_omissions($self, keys, /)\n--\n\nHow many of so many distinct keys the filter would take for known ones.";

static PyObject *filter_expected_omissions(PyObject *object, PyObject *keys) {
  return expected((handle *)object, keys, "keys", petal_filter_expected_omissions);
}

static const char compatibility_doc[] = "16 bytes that are the same for two filters that combine.";

static PyObject *filter_compatibility(PyObject *object, void *unused) {
  (void)unused;
  handle *self = (handle *)object;
  void *raw = handle_to_read(self);
  if (!raw) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  uint8_t id[PETAL_COMPATIBILITY_ID_SIZE];
  petal_status status = petal_filter_get_compatibility_id(raw, id, &error);
  if (status != PETAL_OK) return raise_status(self->state, status, &error, NULL);
  return PyBytes_FromStringAndSize((const char *)id, sizeof id);
}

static PyMethodDef methods[] = {
  IMAGE_METHODS,
  WIRE_METHODS,
  {"open", WITH_KEYWORDS(filter_open), METH_VARARGS | METH_KEYWORDS | METH_CLASS, open_doc},
  {"from_bytes", WITH_KEYWORDS(filter_from_bytes), METH_VARARGS | METH_KEYWORDS | METH_CLASS, from_bytes_doc},
  {"add", filter_add, METH_O, add_doc},
  {"update", WITH_KEYWORDS(filter_update), METH_VARARGS | METH_KEYWORDS, update_doc},
  {"add_many", WITH_KEYWORDS(filter_add_many), METH_VARARGS | METH_KEYWORDS, add_many_doc},
  {"contains", WITH_KEYWORDS(filter_contains_many), METH_VARARGS | METH_KEYWORDS, contains_doc},
  {"remove", filter_remove, METH_O, remove_doc},
  {"discard", filter_discard, METH_O, discard_doc},
  {"discard_many", WITH_KEYWORDS(filter_discard_many), METH_VARARGS | METH_KEYWORDS, discard_many_doc},
  {"count", filter_count, METH_O, count_doc},
  {"count_many", WITH_KEYWORDS(filter_count_many), METH_VARARGS | METH_KEYWORDS, count_many_doc},
  {"rejuvenate_many", WITH_KEYWORDS(filter_rejuvenate_many), METH_VARARGS | METH_KEYWORDS, rejuvenate_many_doc},
  {"add_times", WITH_KEYWORDS(filter_add_times), METH_VARARGS | METH_KEYWORDS, add_times_doc},
  {"remove_times", WITH_KEYWORDS(filter_remove_times), METH_VARARGS | METH_KEYWORDS, remove_times_doc},
  {"hash", filter_hash, METH_O, hash_doc},
  {"statistics", filter_statistics, METH_NOARGS, statistics_doc},
  {"estimate", filter_estimate, METH_NOARGS, estimate_doc},
  {"estimate_overlap", filter_overlap, METH_O, overlap_doc},
  {"clear", filter_clear, METH_NOARGS, clear_doc},
  {"fold", filter_fold, METH_O, fold_doc},
  {"resize", filter_resize, METH_O, resize_doc},
  {"advance", filter_advance, METH_O, advance_doc},
  {"expected_false_positive_rate", filter_expected_rate, METH_O, expected_rate_doc},
  {"expected_false_negative_rate", filter_expected_negatives, METH_O, expected_negatives_doc},
  {"expected_omissions", filter_expected_omissions, METH_O, expected_omissions_doc},
  {"export", WITH_KEYWORDS(filter_export), METH_VARARGS | METH_KEYWORDS, export_doc},
  {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
  IMAGE_ATTRIBUTES,
  {"compatibility_id", filter_compatibility, NULL, compatibility_doc, NULL},
  {NULL, NULL, NULL, NULL, NULL},
};

static const char doc[] =
  "Filter(capacity=0, rate=None, **spec)\n--\n\n"
  "An empty filter for so many distinct keys (0: a million) at a false-positive rate inside (0, 1) (None: 0.01).\n"
  "Keywords: kind (kinds() lists them), bits and hashes instead of a rate, hash, seed, secret (16 bytes), kernel, and\n"
  "the parameters of the kind. `key in f` never says no to a key that was inserted.";

static PyType_Slot slots[] = {
  {Py_tp_doc, (void *)doc},
  {Py_tp_new, filter_make},
  {Py_tp_dealloc, handle_dealloc},
  {Py_tp_repr, image_repr},
  {Py_tp_hash, PyObject_HashNotImplemented},
  {Py_tp_richcompare, filter_compare},
  {Py_tp_methods, methods},
  {Py_tp_getset, attributes},
  {Py_sq_contains, filter_contains},
  {Py_nb_or, filter_or},
  {Py_nb_and, filter_and},
  {Py_nb_inplace_or, filter_merge},
  {Py_nb_inplace_and, filter_intersect},
  {0, NULL},
};

PyType_Spec filter_spec = {
  .name = "petal.Filter",
  .basicsize = sizeof(handle),
  .flags = Py_TPFLAGS_DEFAULT,
  .slots = slots,
};
