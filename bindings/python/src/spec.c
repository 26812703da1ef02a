/* Specs from keyword arguments: the fields of petal_spec by their names, and the parameters of the kind by theirs. */

#include "binding.h"

static const char *const hash_names[] = {
  "default", "xxh3", "xxh64", "siphash13", "external", "format", "xxph3", "identity", "siphash24", "digest",
};
#define HASHES (sizeof hash_names / sizeof *hash_names)

const char *hash_name(petal_hash_function hash) { return hash < HASHES ? hash_names[hash] : "unknown"; }

static const char *const kernel_names[] = {"best", "portable", "avx2", "avx512", "neon"};

/* Finds a text in a list of names. -1 with an exception. */
static int name_of(PyObject *object, const char *what, const char *const *names, size_t count, uint32_t *number) {
  const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
  for (size_t i = 0; text && i < count; i++) {
    if (!strcmp(text, names[i])) {
      *number = (uint32_t)i;
      return 0;
    }
  }
  if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "%s = %R is not the name of one", what, object);
  return -1;
}

int secret_of(module_state *state, PyObject *object, uint8_t secret[16]) {
  (void)state;
  memset(secret, 0, 16);
  if (object == Py_None) return 0;
  Py_buffer view;
  if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) < 0) return -1;
  bool fits = view.len == 16;
  if (fits) {
    memcpy(secret, view.buf, 16);
  } else {
    PyErr_Format(PyExc_ValueError, "the secret has %zd bytes, and must have 16", view.len);
  }
  PyBuffer_Release(&view);
  return fits ? 0 : -1;
}

int kind_of_number(module_state *state, petal_kind kind, petal_kind_info *info) {
  size_t count = petal_kind_count();
  for (size_t i = 0; i < count; i++) {
    if (petal_kind_get_at(i, info, NULL) == PETAL_OK && info->kind == kind) return 0;
  }
  raise_own(state, ERROR_PARAMETER, "unknown_value", "this version does not know the kind");
  return -1;
}

static int set_kind(module_state *state, PyObject *object, petal_spec *spec) {
  if (object == Py_None) return 0;
  const char *name = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
  if (!name) {
    if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "kind is the name of a kind, not %R", object);
    return -1;
  }
  petal_kind_info info = PETAL_KIND_INFO_INIT;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status = petal_kind_find(name, &info, &error);
  if (status != PETAL_OK) {
    raise_status(state, status, &error, NULL);
    return -1;
  }
  spec->kind = info.kind;
  return 0;
}

static int set_rate(PyObject *object, petal_spec *spec) {
  if (object == Py_None) return 0;
  spec->false_positive_rate = PyFloat_AsDouble(object);
  return PyErr_Occurred() ? -1 : 0;
}

static int set_parameter(module_state *state, PyObject *key, PyObject *value, petal_spec *spec) {
  const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
  if (!name) return -1;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status;
  if (PyUnicode_Check(value)) {
    const char *choice = PyUnicode_AsUTF8AndSize(value, NULL);
    if (!choice) return -1;
    status = petal_spec_set_choice(spec, name, choice, &error);
  } else {
    double number = PyFloat_AsDouble(value);
    if (PyErr_Occurred()) {
      /* An unknown keyword is told before its value. */
      double ignored;
      PyErr_Clear();
      status = petal_spec_get(spec, name, &ignored, &error);
      if (status == PETAL_OK) {
        PyErr_Format(PyExc_TypeError, "%s = %R is neither a number nor the name of a choice", name, value);
        return -1;
      }
    } else {
      status = petal_spec_set(spec, name, number, &error);
    }
  }
  if (status == PETAL_OK) return 0;
  raise_status(state, status, &error, NULL);
  return -1;
}

static int set_builder(const char *name, PyObject *value, builder_arguments *builder) {
  if (!strcmp(name, "memory_limit")) return number_of(value, name, &builder->memory_limit) < 0 ? -1 : 1;
  if (!strcmp(name, "threads")) {
    uint64_t threads;
    if (number_of(value, name, &threads) < 0) return -1;
    builder->threads = threads > SIZE_MAX ? SIZE_MAX : (size_t)threads;
    return 1;
  }
  if (!strcmp(name, "progress")) {
    if (value != Py_None && !PyCallable_Check(value)) {
      PyErr_Format(PyExc_TypeError, "progress is a function, not %R", value);
      return -1;
    }
    builder->progress = value == Py_None ? NULL : value;
    return 1;
  }
  if (!strcmp(name, "temporary_directory")) {
    builder->directory = value == Py_None ? NULL : value;
    return 1;
  }
  return 0;
}

/* Sets what is not the kind. */
static int set_field(module_state *state, PyObject *key, PyObject *value, petal_spec *spec,
                     builder_arguments *builder) {
  const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
  if (!name) return -1;
  if (!strcmp(name, "kind")) return 0;
  if (!strcmp(name, "capacity")) return number_of(value, name, &spec->capacity);
  if (!strcmp(name, "rate")) return set_rate(value, spec);
  if (!strcmp(name, "bits")) return number_of(value, name, &spec->bits);
  if (!strcmp(name, "seed")) return number_of(value, name, &spec->seed);
  if (!strcmp(name, "hash")) return name_of(value, name, hash_names, HASHES, &spec->hash);
  if (!strcmp(name, "kernel")) return name_of(value, name, kernel_names, 5, &spec->kernel);
  if (!strcmp(name, "hashes")) {
    uint64_t hashes;
    if (number_of(value, name, &hashes) < 0) return -1;
    spec->hashes = hashes > UINT32_MAX ? UINT32_MAX : (uint32_t)hashes;
    return 0;
  }
  if (!strcmp(name, "secret")) {
    if (secret_of(state, value, spec->secret) < 0) return -1;
    if (value != Py_None && !spec->hash) spec->hash = PETAL_HASH_SIPHASH13;
    return 0;
  }
  int set = builder ? set_builder(name, value, builder) : 0;
  if (set) return set < 0 ? -1 : 0;
  return set_parameter(state, key, value, spec);
}

int spec_of(module_state *state, PyObject *args, PyObject *kwargs, petal_spec *spec, builder_arguments *builder,
            const char *function) {
  static const char *const places[] = {"capacity", "rate"};
  Py_ssize_t count = PyTuple_Size(args);
  if (count > 2) {
    PyErr_Format(PyExc_TypeError, "%s takes a capacity and a rate, and all else as keywords", function);
    return -1;
  }
  /* Parameters depend on the kind, and the secret asks whether a hash function was named. */
  static const char *const first[] = {"kind", "hash"};
  for (size_t i = 0; kwargs && i < 2; i++) {
    PyObject *value = PyDict_GetItemString(kwargs, first[i]);
    if (!value) continue;
    if (i == 0 && set_kind(state, value, spec) < 0) return -1;
    if (i == 1 && name_of(value, "hash", hash_names, HASHES, &spec->hash) < 0) return -1;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    if (kwargs && PyDict_GetItemString(kwargs, places[i])) {
      PyErr_Format(PyExc_TypeError, "%s got %s twice", function, places[i]);
      return -1;
    }
    PyObject *value = PyTuple_GetItem(args, i);
    if ((i == 0 ? number_of(value, "capacity", &spec->capacity) : set_rate(value, spec)) < 0) return -1;
  }
  PyObject *key, *value;
  Py_ssize_t at = 0;
  while (kwargs && PyDict_Next(kwargs, &at, &key, &value)) {
    if (set_field(state, key, value, spec, builder) < 0) return -1;
  }
  return 0;
}
