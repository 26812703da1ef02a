/* petal.Sketch: sets in little memory, which are subtracted, and list the keys that only one of two has. */

#include "binding.h"

static PyObject *sketch_make(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  return image_make(type, args, kwargs, &sketch_calls, PETAL_KIND_IBLT, "Sketch()");
}

static PyObject *sketch_open(PyObject *type, PyObject *args, PyObject *kwargs) {
  return image_open((PyTypeObject *)type, args, kwargs, &sketch_calls);
}

static PyObject *sketch_from_bytes(PyObject *type, PyObject *args, PyObject *kwargs) {
  return image_from_bytes((PyTypeObject *)type, args, kwargs, &sketch_calls);
}

static petal_status insert_batch(void *raw, const petal_keys *keys, const uint64_t *values, petal_answers *answers,
                                 petal_error *error) {
  (void)values;
  return petal_sketch_insert_batch(raw, keys, answers, error);
}

static petal_status remove_batch(void *raw, const petal_keys *keys, const uint64_t *values, petal_answers *answers,
                                 petal_error *error) {
  (void)values;
  return petal_sketch_remove_batch(raw, keys, answers, error);
}

static PyObject *change_one(PyObject *object, PyObject *item, bool inserts) {
  handle *self = (handle *)object;
  one_key key;
  if (one_key_of(item, &key) < 0) return NULL;
  petal_status status = PETAL_OK;
  void *raw = handle_to_change(self);
  if (!raw) {
    /* Nothing to do. */
  } else if (key.is_number) {
    status = (inserts ? petal_sketch_insert_u64 : petal_sketch_remove_u64)(raw, key.number);
  } else {
    status = (inserts ? petal_sketch_insert : petal_sketch_remove)(raw, key.data, key.length);
  }
  one_key_done(&key);
  if (!raw) return NULL;
  if (status != PETAL_OK) return raise_single(self, status, inserts ? insert_batch : remove_batch);
  Py_RETURN_NONE;
}

static const char add_doc[] =
  "add($self, key, /)\n--\n\nInserts a key, only once: an int is the number that is listed, of bytes and str it is the hash.";

static PyObject *sketch_add(PyObject *object, PyObject *item) { return change_one(object, item, true); }

static const char remove_doc[] =
  "remove($self, key, /)\n--\n\nRemoves a key; one that was not inserted is listed among the removed ones.";

static PyObject *sketch_remove(PyObject *object, PyObject *item) { return change_one(object, item, false); }

static const char update_doc[] =
  "update($self, keys, *, nulls='error', hashed=False)\n--\n\nInserts many keys, as Filter.update() takes them.";

static PyObject *sketch_update(PyObject *object, PyObject *args, PyObject *kwargs) {
  handle *self = (handle *)object;
  source *keys = source_of_arguments(self->state, args, kwargs, NULL);
  return keys ? batch_answers(self, keys, true, insert_batch, 0) : NULL;
}

static const char remove_many_doc[] =
  "remove_many($self, keys, *, nulls='error', hashed=False)\n--\n\nRemoves many keys, as remove() does one.";

static PyObject *sketch_remove_many(PyObject *object, PyObject *args, PyObject *kwargs) {
  handle *self = (handle *)object;
  source *keys = source_of_arguments(self->state, args, kwargs, NULL);
  return keys ? batch_answers(self, keys, true, remove_batch, 0) : NULL;
}

static petal_status subtract(void *self, const void *other, petal_error *error) {
  return petal_sketch_subtract(self, other, error);
}
static petal_status merge(void *self, const void *other, petal_error *error) {
  return petal_sketch_merge(self, other, error);
}

static PyObject *sketch_minus(PyObject *one, PyObject *other) { return image_combined(one, other, subtract); }
static PyObject *sketch_or(PyObject *one, PyObject *other) { return image_combined(one, other, merge); }
static PyObject *sketch_subtract(PyObject *one, PyObject *other) { return image_changed(one, other, subtract); }
static PyObject *sketch_merge(PyObject *one, PyObject *other) { return image_changed(one, other, merge); }

static const char difference_doc[] =
  "difference($self)\n--\n\nThe numbers that the sketch lists, as a petal.Difference: added, removed and complete. After\n"
  "`ours - theirs` added has those that only ours has, and removed those that only theirs has. If complete is False,\n"
  "there are more differences than the sketch can tell apart.";

static PyObject *sketch_difference(PyObject *object, PyObject *unused) {
  (void)unused;
  handle *self = (handle *)object;
  if (handle_read(self) < 0) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_sketch_listed *listed = NULL;
  size_t room = 0, count = 0;
  bool complete = false;
  petal_status status;
  for (;;) {
    size_t had = room;
    Py_BEGIN_ALLOW_THREADS
    status = petal_sketch_list(self->raw, listed, had, &count, &complete, &error);
    Py_END_ALLOW_THREADS
    if (status != PETAL_OK || count <= room) break;
    petal_sketch_listed *grown = PyMem_Realloc(listed, count * sizeof *grown);
    if (!grown) {
      status = PETAL_ERR_OUT_OF_MEMORY;
      break;
    }
    listed = grown;
    room = count;
  }
  handle_end(self);
  PyObject *added = PyList_New(0), *removed = PyList_New(0);
  bool failed = !added || !removed || status != PETAL_OK;
  for (size_t i = 0; !failed && i < count; i++) {
    PyObject *number = PyLong_FromUnsignedLongLong(listed[i].number);
    failed = !number || PyList_Append(listed[i].sign < 0 ? removed : added, number) < 0;
    Py_XDECREF(number);
  }
  PyMem_Free(listed);
  if (failed) {
    Py_XDECREF(added);
    Py_XDECREF(removed);
    return PyErr_Occurred() ? NULL : raise_status(self->state, status, &error, NULL);
  }
  PyObject *items[] = {added, removed, PyBool_FromLong(complete)};
  return record_new(self->state, RECORD_DIFFERENCE, items, 3);
}

static const char clear_doc[] = "clear($self)\n--\n\nForgets all keys.";

static PyObject *sketch_clear(PyObject *object, PyObject *unused) {
  (void)unused;
  handle *self = (handle *)object;
  void *raw = handle_to_change(self);
  if (!raw) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status = petal_sketch_clear(raw, &error);
  if (status != PETAL_OK) return raise_status(self->state, status, &error, NULL);
  Py_RETURN_NONE;
}

static const char keep_doc[] =
  "keep_keys($self)\n--\n\nKeeps the keys in memory too, from an empty sketch on: inserting a key twice is then harmless.";

static PyObject *sketch_keep(PyObject *object, PyObject *unused) {
  (void)unused;
  handle *self = (handle *)object;
  void *raw = handle_to_change(self);
  if (!raw) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status = petal_sketch_keep_keys(raw, &error);
  if (status != PETAL_OK) return raise_status(self->state, status, &error, NULL);
  Py_RETURN_NONE;
}

static const char failure_doc[] =
  "expected_failure_rate($self, numbers, /)\n--\n\nThe probability that the sketch cannot list so many numbers.";

static PyObject *sketch_failure(PyObject *object, PyObject *numbers) {
  handle *self = (handle *)object;
  uint64_t count;
  if (number_of(numbers, "numbers", &count) < 0) return NULL;
  void *raw = handle_to_read(self);
  if (!raw) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  double rate = 0;
  petal_status status = petal_sketch_expected_failure_rate(raw, count, &rate, &error);
  if (status != PETAL_OK) return raise_status(self->state, status, &error, NULL);
  return PyFloat_FromDouble(rate);
}

static PyMethodDef methods[] = {
  IMAGE_METHODS,
  {"open", WITH_KEYWORDS(sketch_open), METH_VARARGS | METH_KEYWORDS | METH_CLASS, open_doc},
  {"from_bytes", WITH_KEYWORDS(sketch_from_bytes), METH_VARARGS | METH_KEYWORDS | METH_CLASS, from_bytes_doc},
  {"add", sketch_add, METH_O, add_doc},
  {"update", WITH_KEYWORDS(sketch_update), METH_VARARGS | METH_KEYWORDS, update_doc},
  {"remove", sketch_remove, METH_O, remove_doc},
  {"remove_many", WITH_KEYWORDS(sketch_remove_many), METH_VARARGS | METH_KEYWORDS, remove_many_doc},
  {"difference", sketch_difference, METH_NOARGS, difference_doc},
  {"clear", sketch_clear, METH_NOARGS, clear_doc},
  {"keep_keys", sketch_keep, METH_NOARGS, keep_doc},
  {"expected_failure_rate", sketch_failure, METH_O, failure_doc},
  {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
  IMAGE_ATTRIBUTES,
  {NULL, NULL, NULL, NULL, NULL},
};

static const char doc[] =
  "Sketch(capacity=0, rate=None, **spec)\n--\n\n"
  "An empty sketch of a set, which can list so many differences. rate is the probability that it cannot. Two sides make\n"
  "sketches of their own sets, with equal arguments; `(ours - theirs).difference()` lists what only one of them has.\n"
  "Its size depends on capacity and not on the number of keys. Insert a key only once. Sketches are experimental.";

static PyType_Slot slots[] = {
  {Py_tp_doc, (void *)doc},
  {Py_tp_new, sketch_make},
  {Py_tp_dealloc, handle_dealloc},
  {Py_tp_repr, image_repr},
  {Py_tp_methods, methods},
  {Py_tp_getset, attributes},
  {Py_nb_subtract, sketch_minus},
  {Py_nb_inplace_subtract, sketch_subtract},
  {Py_nb_or, sketch_or},
  {Py_nb_inplace_or, sketch_merge},
  {0, NULL},
};

PyType_Spec sketch_spec = {
  .name = "petal.Sketch",
  .basicsize = sizeof(handle),
  .flags = Py_TPFLAGS_DEFAULT,
  .slots = slots,
};
