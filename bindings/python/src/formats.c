/* Other systems' filters: formats(), recognise(), import_filter() and Filter.export(). */

#include "binding.h"

static module_state *state_of(PyObject *module) { return PyModule_GetState(module); }

static PyObject *variants_of(const petal_format_info *info) {
  PyObject *variants = PyTuple_New(info->variant_count);
  for (size_t i = 0; variants && i < info->variant_count; i++) {
    char name[PETAL_NAME_SIZE] = "";
    petal_format_get_variant(info->name, i, name, NULL);
    PyObject *text = PyUnicode_FromString(name);
    if (!text || PyTuple_SetItem(variants, (Py_ssize_t)i, text) < 0) Py_CLEAR(variants);
  }
  return variants;
}

static PyObject *abilities_of(uint32_t capabilities) {
  static const char *const words[] = {"read", "write", "create", "recognise", "build"};
  PyObject *names = PyList_New(0);
  for (size_t i = 0; names && i < 5; i++) {
    if (!(capabilities >> i & 1)) continue;
    PyObject *name = PyUnicode_FromString(words[i]);
    if (!name || PyList_Append(names, name) < 0) Py_CLEAR(names);
    Py_XDECREF(name);
  }
  PyObject *set = names ? PyFrozenSet_New(names) : NULL;
  Py_XDECREF(names);
  return set;
}

static PyObject *format_record(module_state *state, const petal_format_info *info) {
  PyObject *items[] = {
    PyUnicode_FromString(info->name),
    PyUnicode_FromString(info->summary),
    abilities_of(info->capabilities),
    variants_of(info),
  };
  return record_new(state, RECORD_FORMAT, items, 4);
}

static PyObject *formats(PyObject *module, PyObject *unused) {
  (void)unused;
  PyObject *list = PyList_New(0);
  size_t count = petal_format_count();
  for (size_t i = 0; list && i < count; i++) {
    petal_format_info info = PETAL_FORMAT_INFO_INIT;
    petal_error error = PETAL_ERROR_INIT;
    petal_status status = petal_format_get_at(i, &info, &error);
    PyObject *record = status == PETAL_OK ? format_record(state_of(module), &info)
                                          : raise_status(state_of(module), status, &error, NULL);
    if (!record || PyList_Append(list, record) < 0) Py_CLEAR(list);
    Py_XDECREF(record);
  }
  return list;
}

static PyObject *recognise(PyObject *module, PyObject *bytes) {
  Py_buffer view;
  if (PyObject_GetBuffer(bytes, &view, PyBUF_SIMPLE) < 0) return NULL;
  petal_format_info info = PETAL_FORMAT_INFO_INIT;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status = petal_format_recognise(view.buf, (size_t)view.len, &info, &error);
  PyBuffer_Release(&view);
  if (status == PETAL_ERR_FOREIGN) Py_RETURN_NONE;
  return status == PETAL_OK ? format_record(state_of(module), &info)
                            : raise_status(state_of(module), status, &error, NULL);
}

/* A number that fits into 32 bits, or is too large for the library to take. */
static int small_number(PyObject *object, const char *what, uint32_t *number) {
  uint64_t wide;
  if (number_of(object, what, &wide) < 0) return -1;
  *number = wide > UINT32_MAX ? UINT32_MAX : (uint32_t)wide;
  return 0;
}

static PyObject *import_filter(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *words[] = {"format", "data", "bits", "seed", "hashes", "rice_bits", "multiplier", "secret", NULL};
  module_state *state = state_of(module);
  petal_import_options options = PETAL_IMPORT_OPTIONS_INIT;
  const char *format;
  PyObject *bytes, *bits = NULL, *seed = NULL, *hashes = NULL, *rice = NULL, *multiplier = NULL, *secret = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sO|$OOOOOO", words, &format, &bytes, &bits, &seed, &hashes, &rice,
                                   &multiplier, &secret) ||
      (bits && number_of(bits, "bits", &options.bits) < 0) || (seed && number_of(seed, "seed", &options.seed) < 0) ||
      (hashes && small_number(hashes, "hashes", &options.hashes) < 0) ||
      (rice && small_number(rice, "rice_bits", &options.rice_bits) < 0) ||
      (multiplier && number_of(multiplier, "multiplier", &options.multiplier) < 0) ||
      secret_of(state, secret, options.secret) < 0) {
    return NULL;
  }
  Py_buffer view;
  if (PyObject_GetBuffer(bytes, &view, PyBUF_SIMPLE) < 0) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_filter *raw = NULL;
  petal_status status;
  Py_BEGIN_ALLOW_THREADS
  status = petal_filter_import(format, view.buf, (size_t)view.len, &options, &raw, &error);
  Py_END_ALLOW_THREADS
  PyBuffer_Release(&view);
  if (status != PETAL_OK) return raise_status(state, status, &error, NULL);
  return handle_new(state, state->filter, &filter_calls, filter_calls.free, raw);
}

static PyObject *format_filter(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *words[] = {"format", "capacity", "rate", "variant", "seed", "secret", NULL};
  module_state *state = state_of(module);
  const char *format, *variant = NULL;
  PyObject *capacity, *seed = NULL, *secret = Py_None;
  double rate;
  uint64_t keys, number = 0;
  uint8_t key[16];
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sOd|$zOO", words, &format, &capacity, &rate, &variant, &seed,
                                   &secret) ||
      number_of(capacity, "capacity", &keys) < 0 || (seed && number_of(seed, "seed", &number) < 0) ||
      secret_of(state, secret, key) < 0) {
    return NULL;
  }
  petal_spec spec = PETAL_SPEC_INIT;
  petal_error error = PETAL_ERROR_INIT;
  petal_filter *raw = NULL;
  petal_status status = petal_format_get_spec(format, variant, keys, rate, number, &spec, &error);
  if (status == PETAL_OK) {
    if (secret != Py_None) memcpy(spec.secret, key, sizeof key);
    status = petal_filter_new(&spec, &raw, &error);
  }
  if (status != PETAL_OK) return raise_status(state, status, &error, NULL);
  return handle_new(state, state->filter, &filter_calls, filter_calls.free, raw);
}

const char export_doc[] =
  "export($self, format, variant=None)\n--\n\nThe filter's bytes as another system writes them: formats() lists the names.";

PyObject *filter_export(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *words[] = {"format", "variant", NULL};
  handle *self = (handle *)object;
  const char *format, *variant = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|z", words, &format, &variant)) return NULL;
  if (handle_read(self) < 0) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  uint64_t size = 0;
  PyObject *bytes = NULL;
  petal_status status = petal_filter_export_size(self->raw, format, variant, &size, &error);
  if (status == PETAL_OK && size > PY_SSIZE_T_MAX) {
    PyErr_NoMemory();
  } else if (status == PETAL_OK) {
    bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (bytes) {
      char *place = PyBytes_AsString(bytes);
      Py_BEGIN_ALLOW_THREADS
      status = petal_filter_export(self->raw, format, variant, place, (size_t)size, NULL, &error);
      Py_END_ALLOW_THREADS
    }
  }
  handle_end(self);
  if (status == PETAL_OK) return bytes;
  Py_XDECREF(bytes);
  return raise_status(self->state, status, &error, NULL);
}

PyMethodDef format_functions[] = {
  {"formats", formats, METH_NOARGS,
   "formats($module)\n--\n\nThe formats of other systems that the library knows, as a list of petal.Format."},
  {"recognise", recognise, METH_O,
   "recognise($module, data, /)\n--\n\nThe format, as a petal.Format, of which these are the first bytes of a filter; None if they\n"
   "show none."},
  {"import_filter", WITH_KEYWORDS(import_filter), METH_VARARGS | METH_KEYWORDS,
   "import_filter($module, format, data, *, bits=0, seed=0, hashes=0, rice_bits=0, multiplier=0, secret=None)\n--\n\n"
   "Makes a Filter from another system's bytes. The keywords are values that a format's bytes do not contain."},
  {"format_filter", WITH_KEYWORDS(format_filter), METH_VARARGS | METH_KEYWORDS,
   "format_filter($module, format, capacity, rate, *, variant=None, seed=0, secret=None)\n--\n\n"
   "An empty Filter of another system's format, of the size that its owner would give it."},
  {NULL, NULL, 0, NULL},
};
