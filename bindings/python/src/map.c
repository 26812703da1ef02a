/* petal.Map: the value of a key, by the mapping protocol as far as a map that does not know its keys has it. */

#include "binding.h"

static PyObject *map_make(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  return image_make(type, args, kwargs, &map_calls, PETAL_KIND_BLOOMIER, "Map()");
}

static PyObject *map_open(PyObject *type, PyObject *args, PyObject *kwargs) {
  return image_open((PyTypeObject *)type, args, kwargs, &map_calls);
}

static PyObject *map_from_bytes(PyObject *type, PyObject *args, PyObject *kwargs) {
  return image_from_bytes((PyTypeObject *)type, args, kwargs, &map_calls);
}

static petal_status get_batch(void *raw, const petal_keys *keys, const uint64_t *values, petal_answers *answers,
                              petal_error *error) {
  (void)values;
  return petal_map_get_batch(raw, keys, answers, error);
}

static petal_status put_batch(void *raw, const petal_keys *keys, const uint64_t *values, petal_answers *answers,
                              petal_error *error) {
  return petal_map_put_batch(raw, keys, values, answers, error);
}

static petal_status replace_batch(void *raw, const petal_keys *keys, const uint64_t *values, petal_answers *answers,
                                  petal_error *error) {
  return petal_map_replace_batch(raw, keys, values, answers, error);
}

/* Looks a key up: 1 or 0, or -1 with an exception. */
static int look_up(handle *self, PyObject *item, uint64_t *value) {
  one_key key;
  if (one_key_of(item, &key) < 0) return -1;
  bool found = false;
  petal_status status = PETAL_OK;
  void *raw = handle_to_read(self);
  if (raw) {
    status = key.is_number ? petal_map_get_u64(raw, key.number, value, &found)
                           : petal_map_get(raw, key.data, key.length, value, &found);
  }
  one_key_done(&key);
  if (!raw) return -1;
  if (status == PETAL_OK) return found;
  raise_single(self, status, get_batch);
  return -1;
}

static int map_contains(PyObject *object, PyObject *item) {
  uint64_t value;
  return look_up((handle *)object, item, &value);
}

static PyObject *map_subscript(PyObject *object, PyObject *item) {
  uint64_t value;
  int found = look_up((handle *)object, item, &value);
  if (found > 0) return PyLong_FromUnsignedLongLong(value);
  if (found == 0) PyErr_SetObject(PyExc_KeyError, item);
  return NULL;
}

static const char get_doc[] =
  "get($self, key, default=None, /)\n--\n\nThe value of a key, or default if the key is not there. A key that is not\n"
  "there gets a meaningless value at the map's rate.";

static PyObject *map_get(PyObject *object, PyObject *args) {
  PyObject *item, *missing = Py_None;
  if (!PyArg_ParseTuple(args, "O|O", &item, &missing)) return NULL;
  uint64_t value;
  int found = look_up((handle *)object, item, &value);
  if (found > 0) return PyLong_FromUnsignedLongLong(value);
  return found == 0 ? Py_NewRef(missing) : NULL;
}

/* Puts a value, or replaces one where the kind has no put. */
static int map_assign(PyObject *object, PyObject *item, PyObject *value) {
  handle *self = (handle *)object;
  if (!value) {
    PyErr_SetString(PyExc_TypeError, "a map does not forget single keys");
    return -1;
  }
  uint64_t number;
  one_key key;
  if (number_of(value, "the value", &number) < 0 || one_key_of(item, &key) < 0) return -1;
  bool found = true;
  petal_status status = PETAL_OK;
  void *raw = handle_to_change(self);
  uint8_t bytes[8];
  for (size_t i = 0; key.is_number && i < 8; i++) bytes[i] = (uint8_t)(key.number >> (8 * i));
  const void *data = key.is_number ? bytes : key.data;
  size_t length = key.is_number ? 8 : key.length;
  bool replaces = raw && !(petal_map_capabilities(raw) & PETAL_CAN_PUT) &&
                  (petal_map_capabilities(raw) & PETAL_CAN_REPLACE);
  if (raw) {
    status = replaces ? petal_map_replace(raw, data, length, number, &found)
                      : petal_map_put(raw, data, length, number, NULL);
  }
  one_key_done(&key);
  if (!raw) return -1;
  if (status != PETAL_OK) {
    raise_single(self, status, replaces ? replace_batch : put_batch);
    return -1;
  }
  if (!found) {
    PyErr_SetObject(PyExc_KeyError, item);
    return -1;
  }
  return 0;
}

static const char get_many_doc[] =
  "get_many($self, keys, *, nulls='error', hashed=False)\n--\n\n"
  "Looks many keys up: (values, found), both in kind as Filter.contains() answers. The value of an absent key is 0.";

static PyObject *map_get_many(PyObject *object, PyObject *args, PyObject *kwargs) {
  handle *self = (handle *)object;
  source *keys = source_of_arguments(self->state, args, kwargs, NULL);
  return keys ? batch_answers(self, keys, false, get_batch, WANT_BOOLS | WANT_VALUES) : NULL;
}

static PyObject *with_values(PyObject *object, PyObject *args, PyObject *kwargs, batch_call call) {
  static char *words[] = {"keys", "values", "hashed", NULL};
  handle *self = (handle *)object;
  PyObject *given, *numbers, *result = NULL;
  int hashed = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$p", words, &given, &numbers, &hashed)) return NULL;
  source *keys = source_open(self->state, given, hashed, false);
  source *values = keys ? source_of_numbers(self->state, numbers, "values") : NULL;
  if (values) {
    answers into;
    answers_init(&into, self->state, source_answers_kind(keys), WANT_BOOLS);
    if (run_batch(self, keys, values, true, call, &into) == 0) result = answers_finish(&into, keys);
    answers_free(&into);
  }
  source_close(values);
  source_close(keys);
  return result;
}

static const char put_many_doc[] =
  "put_many($self, keys, values, *, hashed=False)\n--\n\n"
  "Gives keys values, for kinds with 'put', and says of each whether that changed the value that a lookup gives.";

static PyObject *map_put_many(PyObject *object, PyObject *args, PyObject *kwargs) {
  return with_values(object, args, kwargs, put_batch);
}

static const char replace_many_doc[] =
  "replace_many($self, keys, values, *, hashed=False)\n--\n\n"
  "Replaces the values of keys that are there, for kinds with 'replace'; False for a key that certainly is not.";

static PyObject *map_replace_many(PyObject *object, PyObject *args, PyObject *kwargs) {
  return with_values(object, args, kwargs, replace_batch);
}

static const char statistics_doc[] =
  "statistics($self)\n--\n\nMeasures how full the map is, as a petal.Statistics. Reads the whole payload.";

static PyObject *map_statistics(PyObject *object, PyObject *unused) {
  (void)unused;
  handle *self = (handle *)object;
  if (handle_read(self) < 0) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_statistics statistics = PETAL_STATISTICS_INIT;
  petal_status status;
  Py_BEGIN_ALLOW_THREADS
  status = petal_map_get_statistics(self->raw, &statistics, &error);
  Py_END_ALLOW_THREADS
  handle_end(self);
  if (status != PETAL_OK) return raise_status(self->state, status, &error, NULL);
  return statistics_record(self->state, &statistics);
}

static PyObject *map_merge(PyObject *object, PyObject *other) {
  if (Py_TYPE(object) != Py_TYPE(other)) return Py_NewRef(Py_NotImplemented);
  /* Putting the same values again changes nothing. */
  if (object == other) return Py_NewRef(object);
  handle *self = (handle *)object;
  if (handle_change_and_read(self, (handle *)other) < 0) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status;
  void *theirs = ((handle *)other)->raw;
  Py_BEGIN_ALLOW_THREADS
  status = petal_map_merge(self->raw, theirs, &error);
  Py_END_ALLOW_THREADS
  handle_end((handle *)other);
  handle_end(self);
  if (status != PETAL_OK) return raise_status(self->state, status, &error, NULL);
  return Py_NewRef(object);
}

static const char clear_doc[] = "clear($self)\n--\n\nForgets all keys, for kinds that start empty.";

static PyObject *map_clear(PyObject *object, PyObject *unused) {
  (void)unused;
  handle *self = (handle *)object;
  if (handle_change(self) < 0) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status;
  Py_BEGIN_ALLOW_THREADS
  status = petal_map_clear(self->raw, &error);
  Py_END_ALLOW_THREADS
  handle_end(self);
  if (status != PETAL_OK) return raise_status(self->state, status, &error, NULL);
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
  IMAGE_METHODS,
  WIRE_METHODS,
  {"open", WITH_KEYWORDS(map_open), METH_VARARGS | METH_KEYWORDS | METH_CLASS, open_doc},
  {"from_bytes", WITH_KEYWORDS(map_from_bytes), METH_VARARGS | METH_KEYWORDS | METH_CLASS, from_bytes_doc},
  {"get", map_get, METH_VARARGS, get_doc},
  {"get_many", WITH_KEYWORDS(map_get_many), METH_VARARGS | METH_KEYWORDS, get_many_doc},
  {"put_many", WITH_KEYWORDS(map_put_many), METH_VARARGS | METH_KEYWORDS, put_many_doc},
  {"replace_many", WITH_KEYWORDS(map_replace_many), METH_VARARGS | METH_KEYWORDS, replace_many_doc},
  {"statistics", map_statistics, METH_NOARGS, statistics_doc},
  {"clear", map_clear, METH_NOARGS, clear_doc},
  {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
  IMAGE_ATTRIBUTES,
  {NULL, NULL, NULL, NULL, NULL},
};

static const char doc[] =
  "Map(capacity=0, rate=None, **spec)\n--\n\n"
  "An empty map from keys to whole numbers, of a kind that starts empty (kind='approximator'). A MapBuilder makes maps\n"
  "of the other kinds. A map keeps values and no keys: `m[key]` is the key's value, and raises KeyError for a key that\n"
  "is not there, except for a share of such keys that you choose. `m[key] = value` puts a value, or replaces it.";

static PyType_Slot slots[] = {
  {Py_tp_doc, (void *)doc},         {Py_tp_new, map_make},
  {Py_tp_dealloc, handle_dealloc},  {Py_tp_repr, image_repr},
  {Py_tp_methods, methods},         {Py_tp_getset, attributes},
  {Py_sq_contains, map_contains},   {Py_mp_subscript, map_subscript},
  {Py_mp_ass_subscript, map_assign}, {Py_nb_inplace_or, map_merge},
  {0, NULL},
};

PyType_Spec map_spec = {
  .name = "petal.Map",
  .basicsize = sizeof(handle),
  .flags = Py_TPFLAGS_DEFAULT,
  .slots = slots,
};
