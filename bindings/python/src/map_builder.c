/* petal.MapBuilder: collects keys with their values, and then makes a map of exactly these. */

#include "builder.h"

#include <stdlib.h>

static void free_builder(void *raw) { petal_map_builder_free(raw); }

static PyObject *builder_make(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  module_state *state = PyType_GetModuleState(type);
  petal_spec spec = PETAL_SPEC_INIT;
  spec.kind = PETAL_KIND_BLOOMIER;
  builder_arguments arguments = {0, NULL, NULL, 0};
  petal_builder_options options;
  PyObject *directory;
  if (spec_of(state, args, kwargs, &spec, &arguments, "MapBuilder()") < 0) return NULL;
  progress *told = maker_options(state, &arguments, &options, &directory);
  if (!told) return NULL;
  petal_map_builder *raw = NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status = petal_map_builder_new(&spec, &options, &raw, &error);
  Py_XDECREF(directory);
  if (status != PETAL_OK) {
    free(told);
    return raise_status(state, status, &error, NULL);
  }
  return maker_object(state, type, free_builder, raw, told);
}

static petal_status put_batch(void *raw, const petal_keys *keys, const uint64_t *values, petal_answers *answers,
                              petal_error *error) {
  return petal_map_builder_put_batch(raw, keys, values, answers, error);
}

static int builder_assign(PyObject *object, PyObject *item, PyObject *value) {
  handle *self = (handle *)object;
  if (!value) {
    PyErr_SetString(PyExc_TypeError, "a builder does not forget single keys");
    return -1;
  }
  uint64_t number;
  one_key key;
  if (number_of(value, "the value", &number) < 0 || one_key_of(item, &key) < 0) return -1;
  petal_status status = PETAL_OK;
  void *raw = handle_to_change(self);
  if (raw) {
    status = key.is_number ? petal_map_builder_put_u64(raw, key.number, number)
                           : petal_map_builder_put(raw, key.data, key.length, number);
  }
  one_key_done(&key);
  if (!raw) return -1;
  if (status == PETAL_OK) return 0;
  raise_single(self, status, put_batch);
  return -1;
}

/* An object has no subscript without one to read, so reading says what to do instead. */
static PyObject *builder_subscript(PyObject *object, PyObject *item) {
  (void)object;
  (void)item;
  PyErr_SetString(PyExc_TypeError, "a builder gives no values: finish() makes the map");
  return NULL;
}

static const char update_doc[] =
  "update($self, keys, values=None, *, hashed=False)\n--\n\n"
  "Gives many keys their values, one for each: keys as Filter.update() takes them, values as whole numbers in the same\n"
  "forms. Without values keys is a mapping, such as a dict.";

static PyObject *builder_update(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *words[] = {"keys", "values", "hashed", NULL};
  handle *self = (handle *)object;
  PyObject *keys, *values = Py_None;
  int hashed = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O$p", words, &keys, &values, &hashed)) return NULL;
  if (values != Py_None) return maker_with_numbers(self, keys, values, "values", hashed, put_batch);
  if (!PyObject_HasAttrString(keys, "keys")) {
    PyErr_SetString(PyExc_TypeError, "update() takes keys and values, or a mapping");
    return NULL;
  }
  /* Lists, so that both stay what they were however the mapping changes meanwhile. */
  PyObject *of_mapping = PyMapping_Keys(keys);
  PyObject *in_mapping = of_mapping ? PyMapping_Values(keys) : NULL;
  PyObject *result =
    in_mapping ? maker_with_numbers(self, of_mapping, in_mapping, "values", hashed, put_batch) : NULL;
  Py_XDECREF(of_mapping);
  Py_XDECREF(in_mapping);
  return result;
}

static petal_status finish(void *raw, const char *path, void **made, petal_error *error) {
  (void)path;
  petal_map *map = NULL;
  petal_status status = petal_map_builder_finish(raw, &map, error);
  *made = map;
  return status;
}

static petal_status save(void *raw, const char *path, void **made, petal_error *error) {
  (void)made;
  return petal_map_builder_save(raw, path, error);
}

static petal_status serialize(void *raw, petal_write_callback write, void *context, petal_error *error) {
  return petal_map_builder_serialize_to(raw, write, context, error);
}

static petal_status load(void *raw, const void *state, size_t length, petal_error *error) {
  return petal_map_builder_merge(raw, state, length, error);
}

static petal_status key_count(const void *raw, uint64_t *count, petal_error *error) {
  return petal_map_builder_key_count(raw, count, error);
}

static const char finish_doc[] =
  "finish($self)\n--\n\nMakes the Map and empties the builder. Raises ParameterError if a key has two values, for kinds\n"
  "that do not join them. On a failure, and when progress stops, the keys stay.";

static PyObject *builder_finish(PyObject *object, PyObject *unused) {
  (void)unused;
  return maker_finish(object, finish, ((handle *)object)->state->map, &map_calls);
}

static const char save_map_doc[] =
  "save($self, path, /)\n--\n\nMakes the map straight into a file, which replaces an old one atomically, and empties the\n"
  "builder.";

static PyObject *builder_save(PyObject *object, PyObject *path) { return maker_save(object, path, save); }

static const char state_doc[] =
  "to_bytes($self)\n--\n\nThe keys and values as bytes, which merge() of a builder with the same spec takes. They stay here\n"
  "too.";

static PyObject *builder_state(PyObject *object, PyObject *unused) {
  (void)unused;
  return maker_state(object, serialize);
}

static const char merge_doc[] =
  "merge($self, state, /)\n--\n\nTakes in the keys and values of another builder, as its to_bytes() gave them.";

static PyObject *builder_merge(PyObject *object, PyObject *state) { return maker_merge(object, state, load); }

static PyObject *builder_count(PyObject *object, void *unused) {
  (void)unused;
  return maker_count(object, key_count);
}

static PyMethodDef methods[] = {
  MAKER_METHODS,
  {"update", WITH_KEYWORDS(builder_update), METH_VARARGS | METH_KEYWORDS, update_doc},
  {"finish", builder_finish, METH_NOARGS, finish_doc},
  {"save", builder_save, METH_O, save_map_doc},
  {"to_bytes", builder_state, METH_NOARGS, state_doc},
  {"merge", builder_merge, METH_O, merge_doc},
  {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
  {"key_count", builder_count, NULL, "How many keys were given, duplicates included.", NULL},
  {NULL, NULL, NULL, NULL, NULL},
};

static const char doc[] =
  "MapBuilder(capacity=0, rate=None, **spec)\n--\n\n"
  "Collects keys with their values (`b[key] = value`) and then makes a map for exactly these. It takes the fields kind\n"
  "(None: 'bloomier'), rate, hash, seed and secret, the parameters of the kind such as value_bits, and what Builder()\n"
  "takes besides.";

static PyType_Slot slots[] = {
  {Py_tp_doc, (void *)doc},         {Py_tp_new, builder_make},
  {Py_tp_dealloc, handle_dealloc},  {Py_tp_traverse, maker_traverse},
  {Py_tp_clear, maker_clear},       {Py_tp_methods, methods},
  {Py_tp_getset, attributes},       {Py_mp_ass_subscript, builder_assign},
  {Py_mp_subscript, builder_subscript}, {0, NULL},
};

PyType_Spec map_builder_spec = {
  .name = "petal.MapBuilder",
  .basicsize = sizeof(handle),
  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
  .slots = slots,
};
