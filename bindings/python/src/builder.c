/* petal.Builder: collects keys, and then makes a filter of exactly these. */

#include "builder.h"

#include <stdlib.h>

/* What the library calls while it makes a filter; the calling thread has released the GIL. */
static bool report(void *context, uint64_t done, uint64_t total) {
  progress *told = context;
  PyEval_RestoreThread(told->thread);
  PyObject *answer = PyObject_CallFunction(told->function, "KK", (unsigned long long)done, (unsigned long long)total);
  /* Only False stops: a function that returns nothing goes on. */
  bool goes_on = answer && answer != Py_False;
  Py_XDECREF(answer);
  if (goes_on && PyErr_CheckSignals() < 0) goes_on = false;
  told->thread = PyEval_SaveThread();
  return goes_on;
}

/* Where Python puts temporary files. */
static PyObject *usual_directory(void) {
  PyObject *tempfile = PyImport_ImportModule("tempfile");
  PyObject *folder = tempfile ? PyObject_CallMethod(tempfile, "gettempdir", NULL) : NULL;
  Py_XDECREF(tempfile);
  return folder;
}

void *maker_options(module_state *state, const builder_arguments *arguments, petal_builder_options *options,
                    PyObject **directory) {
  petal_builder_options empty = PETAL_BUILDER_OPTIONS_INIT;
  *options = empty;
  *directory = NULL;
  (void)state;
  progress *told = calloc(1, sizeof *told);
  if (!told) return PyErr_NoMemory();
  if (arguments->directory || arguments->memory_limit) {
    PyObject *folder = arguments->directory ? Py_NewRef(arguments->directory) : usual_directory();
    int converted = folder ? PyUnicode_FSConverter(folder, directory) : 0;
    Py_XDECREF(folder);
    if (!converted) {
      free(told);
      return NULL;
    }
    options->temporary_directory = PyBytes_AsString(*directory);
  }
  options->memory_limit = arguments->memory_limit;
  options->threads = arguments->threads;
  if (arguments->progress) {
    told->function = arguments->progress;
    options->progress = report;
    options->progress_context = told;
  }
  return told;
}

PyObject *maker_object(module_state *state, PyTypeObject *type, void (*release)(void *), void *raw, progress *told) {
  handle *self = (handle *)handle_new(state, type, NULL, release, raw);
  if (!self) {
    free(told);
    return NULL;
  }
  self->context = told;
  self->progress = Py_XNewRef(told->function);
  return (PyObject *)self;
}

int maker_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(((handle *)object)->progress);
  Py_VISIT(Py_TYPE(object));
  return 0;
}

int maker_clear(PyObject *object) {
  handle *self = (handle *)object;
  /* Without the function no call may report any more. */
  if (self->raw && self->uses == 0) {
    void *raw = self->raw;
    self->raw = NULL;
    self->free(raw);
  }
  Py_CLEAR(self->progress);
  return 0;
}

petal_status maker_run(handle *self, maker_call call, const char *path, void **made, petal_error *error) {
  progress *told = self->context;
  void *raw = self->raw;
  told->thread = PyEval_SaveThread();
  petal_status status = call(raw, path, made, error);
  PyEval_RestoreThread(told->thread);
  return status;
}

PyObject *maker_raise(handle *self, petal_status status, const petal_error *error, PyObject *path) {
  /* An exception of the progress function is the reason. */
  return PyErr_Occurred() ? NULL : raise_status(self->state, status, error, path);
}

PyObject *maker_save(PyObject *object, PyObject *path, maker_call call) {
  handle *self = (handle *)object;
  PyObject *bytes;
  if (!PyUnicode_FSConverter(path, &bytes)) return NULL;
  if (handle_change(self) < 0) {
    Py_DECREF(bytes);
    return NULL;
  }
  petal_error error = PETAL_ERROR_INIT;
  petal_status status = maker_run(self, call, PyBytes_AsString(bytes), NULL, &error);
  handle_end(self);
  Py_DECREF(bytes);
  if (status != PETAL_OK) return maker_raise(self, status, &error, path);
  Py_RETURN_NONE;
}

PyObject *maker_finish(PyObject *object, maker_call call, PyTypeObject *type, const image_calls *calls) {
  handle *self = (handle *)object;
  if (handle_change(self) < 0) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  void *made = NULL;
  petal_status status = maker_run(self, call, NULL, &made, &error);
  handle_end(self);
  if (status != PETAL_OK) return maker_raise(self, status, &error, NULL);
  return handle_new(self->state, type, calls, calls->free, made);
}

PyObject *maker_state(PyObject *object, maker_serialize call) {
  handle *self = (handle *)object;
  if (handle_change(self) < 0) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  written into = {NULL, 0, 0};
  progress *told = self->context;
  void *raw = self->raw;
  told->thread = PyEval_SaveThread();
  petal_status status = call(raw, written_take, &into, &error);
  PyEval_RestoreThread(told->thread);
  handle_end(self);
  PyObject *bytes = NULL;
  if (PyErr_Occurred()) {
    /* The progress function raised. */
  } else if (status == PETAL_ERR_CALLBACK) {
    PyErr_NoMemory();
  } else if (status != PETAL_OK) {
    raise_status(self->state, status, &error, NULL);
  } else {
    bytes = PyBytes_FromStringAndSize((const char *)into.bytes, (Py_ssize_t)into.length);
  }
  free(into.bytes);
  return bytes;
}

PyObject *maker_merge(PyObject *object, PyObject *state, maker_load call) {
  handle *self = (handle *)object;
  Py_buffer view;
  if (PyObject_GetBuffer(state, &view, PyBUF_SIMPLE) < 0) return NULL;
  PyObject *result = NULL;
  if (handle_change(self) == 0) {
    petal_error error = PETAL_ERROR_INIT;
    progress *told = self->context;
    void *raw = self->raw;
    told->thread = PyEval_SaveThread();
    petal_status status = call(raw, view.buf, (size_t)view.len, &error);
    PyEval_RestoreThread(told->thread);
    handle_end(self);
    result = status == PETAL_OK ? Py_NewRef(Py_None) : maker_raise(self, status, &error, NULL);
  }
  PyBuffer_Release(&view);
  return result;
}

PyObject *maker_count(PyObject *object, petal_status (*call)(const void *, uint64_t *, petal_error *)) {
  handle *self = (handle *)object;
  void *raw = handle_to_read(self);
  if (!raw) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  uint64_t count = 0;
  petal_status status = call(raw, &count, &error);
  if (status != PETAL_OK) return raise_status(self->state, status, &error, NULL);
  return PyLong_FromUnsignedLongLong(count);
}

static void free_builder(void *raw) { petal_builder_free(raw); }

static PyObject *builder_make(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  module_state *state = PyType_GetModuleState(type);
  petal_spec spec = PETAL_SPEC_INIT;
  builder_arguments arguments = {0, NULL, NULL, 0};
  petal_builder_options options;
  PyObject *directory;
  if (spec_of(state, args, kwargs, &spec, &arguments, "Builder()") < 0) return NULL;
  progress *told = maker_options(state, &arguments, &options, &directory);
  if (!told) return NULL;
  petal_builder *raw = NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status = petal_builder_new(&spec, &options, &raw, &error);
  Py_XDECREF(directory);
  if (status != PETAL_OK) {
    free(told);
    return raise_status(state, status, &error, NULL);
  }
  return maker_object(state, type, free_builder, raw, told);
}

#define BATCH(name, function)                                                                                          \
  static petal_status name(void *raw, const petal_keys *keys, const uint64_t *values, petal_answers *answers,          \
                           petal_error *error) {                                                                       \
    (void)values;                                                                                                      \
    return function(raw, keys, answers, error);                                                                        \
  }

BATCH(add_batch, petal_builder_add_batch)
BATCH(exclude_batch, petal_builder_exclude_batch)

static petal_status add_times_batch(void *raw, const petal_keys *keys, const uint64_t *values, petal_answers *answers,
                                    petal_error *error) {
  return petal_builder_add_times_batch(raw, keys, values, answers, error);
}

/* Weights come as the bits of doubles. */
static petal_status add_frequent_batch(void *raw, const petal_keys *keys, const uint64_t *values,
                                       petal_answers *answers, petal_error *error) {
  return petal_builder_add_frequent_batch(raw, keys, (const double *)(const void *)values, answers, error);
}

static petal_status add_frequent_alike(void *raw, const petal_keys *keys, const uint64_t *values,
                                       petal_answers *answers, petal_error *error) {
  (void)values;
  return petal_builder_add_frequent_batch(raw, keys, NULL, answers, error);
}

static const char add_doc[] =
  "add($self, key, /)\n--\n\nAdds a key: bytes, str (its UTF-8), or int from 0 to 2**64 - 1.";

static PyObject *builder_add(PyObject *object, PyObject *item) {
  handle *self = (handle *)object;
  one_key key;
  if (one_key_of(item, &key) < 0) return NULL;
  petal_status status = PETAL_OK;
  void *raw = handle_to_change(self);
  if (raw) {
    status = key.is_number ? petal_builder_add_u64(raw, key.number) : petal_builder_add(raw, key.data, key.length);
  }
  one_key_done(&key);
  if (!raw) return NULL;
  if (status != PETAL_OK) return raise_single(self, status, add_batch);
  Py_RETURN_NONE;
}

static PyObject *many(PyObject *object, PyObject *args, PyObject *kwargs, batch_call call) {
  handle *self = (handle *)object;
  source *keys = source_of_arguments(self->state, args, kwargs, NULL);
  return keys ? batch_answers(self, keys, true, call, 0) : NULL;
}

static const char update_doc[] =
  "update($self, keys, *, nulls='error', hashed=False)\n--\n\nAdds many keys, as Filter.update() takes them.";

static PyObject *builder_update(PyObject *object, PyObject *args, PyObject *kwargs) {
  return many(object, args, kwargs, add_batch);
}

static const char exclude_doc[] =
  "exclude($self, keys, *, nulls='error', hashed=False)\n--\n\n"
  "Excludes keys that are no members, for kinds such as exact_set: the filter makes no error for them.";

static PyObject *builder_exclude(PyObject *object, PyObject *args, PyObject *kwargs) {
  return many(object, args, kwargs, exclude_batch);
}

static const char add_times_doc[] =
  "add_times($self, keys, times, *, hashed=False)\n--\n\nAdds each key as often as its element of times says, for kinds\n"
  "that count.";

static PyObject *builder_add_times(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *words[] = {"keys", "times", "hashed", NULL};
  PyObject *given, *numbers;
  int hashed = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$p", words, &given, &numbers, &hashed)) return NULL;
  return maker_with_numbers((handle *)object, given, numbers, "times", hashed, add_times_batch);
}

PyObject *maker_with_numbers(handle *self, PyObject *given, PyObject *numbers, const char *what, bool hashed,
                             batch_call call) {
  source *keys = source_open(self->state, given, hashed, false);
  source *values = keys ? source_of_numbers(self->state, numbers, what) : NULL;
  int ran = values ? run_batch(self, keys, values, true, call, NULL) : -1;
  source_close(values);
  source_close(keys);
  return ran < 0 ? NULL : Py_NewRef(Py_None);
}

/* Weights as the bits of doubles, in an array of Python, which the calls take as numbers. */
static PyObject *bits_of_weights(PyObject *weights) {
  PyObject *list = PySequence_List(weights);
  Py_ssize_t count = list ? PyList_Size(list) : 0;
  PyObject *bits = list ? PyList_New(count) : NULL;
  for (Py_ssize_t i = 0; bits && i < count; i++) {
    double weight = PyFloat_AsDouble(PyList_GetItem(list, i));
    uint64_t number;
    memcpy(&number, &weight, sizeof number);
    PyObject *item = PyErr_Occurred() ? NULL : PyLong_FromUnsignedLongLong(number);
    if (!item || PyList_SetItem(bits, i, item) < 0) Py_CLEAR(bits);
  }
  Py_XDECREF(list);
  return bits;
}

static const char add_frequent_doc[] =
  "add_frequent($self, keys, weights=None, *, hashed=False)\n--\n\n"
  "Gives keys that are no members but are asked for often, for kinds such as stacked. weights say how often, compared\n"
  "with the others; None means that all are asked for alike.";

static PyObject *builder_add_frequent(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *words[] = {"keys", "weights", "hashed", NULL};
  handle *self = (handle *)object;
  PyObject *given, *weights = Py_None;
  int hashed = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O$p", words, &given, &weights, &hashed)) return NULL;
  if (weights == Py_None) {
    source *keys = source_open(self->state, given, hashed, false);
    return keys ? batch_answers(self, keys, true, add_frequent_alike, 0) : NULL;
  }
  PyObject *bits = bits_of_weights(weights);
  PyObject *result = bits ? maker_with_numbers(self, given, bits, "weights", hashed, add_frequent_batch) : NULL;
  Py_XDECREF(bits);
  return result;
}

static const char replace_doc[] =
  "replace($self, old, /)\n--\n\n"
  "Makes the next filter the filter old, brought up to date to the keys that are added, for kinds such as exact_set.";

static PyObject *builder_replace(PyObject *object, PyObject *old) {
  handle *self = (handle *)object;
  if (!is_handle(old, self->state->filter, "Filter") || handle_change_and_read(self, (handle *)old) < 0) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status;
  void *theirs = ((handle *)old)->raw;
  Py_BEGIN_ALLOW_THREADS
  status = petal_builder_update(self->raw, theirs, &error);
  Py_END_ALLOW_THREADS
  handle_end((handle *)old);
  handle_end(self);
  if (status != PETAL_OK) return raise_status(self->state, status, &error, NULL);
  Py_RETURN_NONE;
}

static petal_status finish(void *raw, const char *path, void **made, petal_error *error) {
  (void)path;
  petal_filter *filter = NULL;
  petal_status status = petal_builder_finish(raw, &filter, error);
  *made = filter;
  return status;
}

static petal_status save(void *raw, const char *path, void **made, petal_error *error) {
  (void)made;
  return petal_builder_save(raw, path, error);
}

static const char finish_doc[] =
  "finish($self)\n--\n\nMakes the Filter and empties the builder. On a failure, and when progress stops, the keys stay.";

static PyObject *builder_finish(PyObject *object, PyObject *unused) {
  (void)unused;
  return maker_finish(object, finish, ((handle *)object)->state->filter, &filter_calls);
}

static const char save_filter_doc[] =
  "save($self, path, /)\n--\n\nMakes the filter straight into a file, which replaces an old one atomically, and empties\n"
  "the builder.";

static PyObject *builder_save(PyObject *object, PyObject *path) { return maker_save(object, path, save); }

static petal_status serialize(void *raw, petal_write_callback write, void *context, petal_error *error) {
  return petal_builder_serialize_to(raw, write, context, error);
}

static petal_status load(void *raw, const void *state, size_t length, petal_error *error) {
  return petal_builder_merge(raw, state, length, error);
}

static petal_status key_count(const void *raw, uint64_t *count, petal_error *error) {
  return petal_builder_key_count(raw, count, error);
}

static const char state_doc[] =
  "to_bytes($self)\n--\n\nThe keys as bytes, which merge() of a builder with the same spec takes. They stay here too.";

static PyObject *builder_state(PyObject *object, PyObject *unused) {
  (void)unused;
  return maker_state(object, serialize);
}

static const char merge_doc[] =
  "merge($self, state, /)\n--\n\nTakes in the keys of another builder, as its to_bytes() gave them.";

static PyObject *builder_merge(PyObject *object, PyObject *state) { return maker_merge(object, state, load); }

static PyObject *builder_count(PyObject *object, void *unused) {
  (void)unused;
  return maker_count(object, key_count);
}

static PyMethodDef methods[] = {
  MAKER_METHODS,
  {"add", builder_add, METH_O, add_doc},
  {"update", WITH_KEYWORDS(builder_update), METH_VARARGS | METH_KEYWORDS, update_doc},
  {"add_times", WITH_KEYWORDS(builder_add_times), METH_VARARGS | METH_KEYWORDS, add_times_doc},
  {"exclude", WITH_KEYWORDS(builder_exclude), METH_VARARGS | METH_KEYWORDS, exclude_doc},
  {"add_frequent", WITH_KEYWORDS(builder_add_frequent), METH_VARARGS | METH_KEYWORDS, add_frequent_doc},
  {"replace", builder_replace, METH_O, replace_doc},
  {"finish", builder_finish, METH_NOARGS, finish_doc},
  {"save", builder_save, METH_O, save_filter_doc},
  {"to_bytes", builder_state, METH_NOARGS, state_doc},
  {"merge", builder_merge, METH_O, merge_doc},
  {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
  {"key_count", builder_count, NULL, "How many keys were added, duplicates included.", NULL},
  {NULL, NULL, NULL, NULL, NULL},
};

static const char doc[] =
  "Builder(capacity=0, rate=None, **spec)\n--\n\n"
  "Collects keys and then makes a filter for exactly the distinct keys that came, of any kind: those that are made of\n"
  "all keys at once, such as fuse and ribbon, need a builder. Besides what Filter() takes: memory_limit (bytes; keys\n"
  "that find no room go to a temporary file), temporary_directory, threads, and progress, a function of (done, total)\n"
  "that may return False to stop.";

static PyType_Slot slots[] = {
  {Py_tp_doc, (void *)doc},         {Py_tp_new, builder_make},   {Py_tp_dealloc, handle_dealloc},
  {Py_tp_traverse, maker_traverse}, {Py_tp_clear, maker_clear},  {Py_tp_methods, methods},
  {Py_tp_getset, attributes},       {0, NULL},
};

PyType_Spec builder_spec = {
  .name = "petal.Builder",
  .basicsize = sizeof(handle),
  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
  .slots = slots,
};
