/* What filters, maps and sketches have in common: opening, saving, copying and describing their images. */

#include "binding.h"

/* The functions of a noun, with pointers to any handle. */
#define CALLS(noun)                                                                                                    \
  static void noun##_free(void *h) { petal_##noun##_free(h); }                                                         \
  static petal_status noun##_new(const petal_spec *s, void **h, petal_error *e) {                                      \
    petal_##noun *made = NULL;                                                                                         \
    petal_status status = petal_##noun##_new(s, &made, e);                                                             \
    *h = made;                                                                                                         \
    return status;                                                                                                     \
  }                                                                                                                    \
  static petal_status noun##_open(const char *path, const petal_open_options *o, void **h, petal_error *e) {           \
    petal_##noun *opened = NULL;                                                                                       \
    petal_status status = petal_##noun##_open(path, o, &opened, e);                                                    \
    *h = opened;                                                                                                       \
    return status;                                                                                                     \
  }                                                                                                                    \
  static petal_status noun##_load(const void *b, size_t n, const petal_open_options *o, void **h, petal_error *e) {    \
    petal_##noun *loaded = NULL;                                                                                       \
    petal_status status = petal_##noun##_load(b, n, o, &loaded, e);                                                    \
    *h = loaded;                                                                                                       \
    return status;                                                                                                     \
  }                                                                                                                    \
  static petal_status noun##_copy(const void *h, void **c, petal_error *e) {                                           \
    petal_##noun *copied = NULL;                                                                                       \
    petal_status status = petal_##noun##_copy(h, &copied, e);                                                          \
    *c = copied;                                                                                                       \
    return status;                                                                                                     \
  }                                                                                                                    \
  static petal_status noun##_size(const void *h, uint64_t *size, petal_error *e) {                                     \
    return petal_##noun##_serialized_size(h, size, e);                                                                 \
  }                                                                                                                    \
  static petal_status noun##_serialize(const void *h, void *b, size_t n, size_t *w, petal_error *e) {                  \
    return petal_##noun##_serialize(h, b, n, w, e);                                                                    \
  }                                                                                                                    \
  static petal_status noun##_save(const void *h, const char *p, petal_error *e) {                                      \
    return petal_##noun##_save(h, p, e);                                                                               \
  }                                                                                                                    \
  static petal_status noun##_verify(void *h, petal_error *e) { return petal_##noun##_verify(h, e); }                   \
  static petal_status noun##_describe(const void *h, petal_description *d, petal_error *e) {                           \
    return petal_##noun##_describe(h, d, e);                                                                           \
  }                                                                                                                    \
  static petal_status noun##_sync(void *h, petal_error *e) { return petal_##noun##_sync(h, e); }                       \
  static petal_status noun##_mark_clean(void *h, petal_error *e) { return petal_##noun##_mark_clean(h, e); }           \
  static uint64_t noun##_capabilities(const void *h) { return petal_##noun##_capabilities(h); }                        \
  const image_calls noun##_calls = {                                                                                   \
    .free = noun##_free,                                                                                               \
    .make = noun##_new,                                                                                                \
    .open = noun##_open,                                                                                               \
    .load = noun##_load,                                                                                               \
    .copy = noun##_copy,                                                                                               \
    .serialized_size = noun##_size,                                                                                    \
    .serialize = noun##_serialize,                                                                                     \
    .save = noun##_save,                                                                                               \
    .verify = noun##_verify,                                                                                           \
    .describe = noun##_describe,                                                                                       \
    .sync = noun##_sync,                                                                                               \
    .mark_clean = noun##_mark_clean,                                                                                   \
    .capabilities = noun##_capabilities,                                                                               \
  }

CALLS(filter);
CALLS(map);
CALLS(sketch);

const char open_doc[] =
  "open($type, path, mode='read', *, prefault=False, secret=None)\n--\n\n"
  "Opens a file that is an image. Modes: 'read' maps the file, in constant time whatever its size, and processes that\n"
  "open the same file share its memory; 'load' copies it and compares its checksums; 'write' maps it for changes as\n"
  "the only writer; 'share' maps it for insertions by many threads and processes at once (filters only).\n"
  "prefault=True reads a mapped file ahead, so that the first lookups do not wait for the disk. secret is the key of\n"
  "16 bytes of a keyed filter.";
const char from_bytes_doc[] =
  "from_bytes($type, image, *, secret=None)\n--\n\nCopies an image, as to_bytes() gave it, out of any bytes, and compares its "
  "checksums.";
const char to_bytes_doc[] = "to_bytes($self)\n--\n\nThe image, which from_bytes() and every other program of Petal read.";
const char save_doc[] =
  "save($self, path, /)\n--\n\nWrites the image to a file, atomically: the path names the old bytes or the new ones at every "
  "moment.";
const char copy_doc[] = "copy($self)\n--\n\nA copy in memory of its own, wherever the original lies.";
const char verify_doc[] =
  "verify($self)\n--\n\nReads and checks all bytes; raises ImageError if they do not match their checksums, or if nobody\n"
  "marked them clean.";
const char sync_doc[] = "sync($self)\n--\n\nBrings an image that was changed in place up to date on its disk.";
const char mark_clean_doc[] =
  "mark_clean($self)\n--\n\nDeclares that the bytes are right as they are now, as after a crash whose keys were inserted "
  "again.";
const char info_doc[] = "What the header says, as a petal.Info: constant time.";
const char kind_doc[] = "The name of the kind.";
const char capabilities_doc[] = "What this object can do, as a frozenset of names such as 'remove'.";

static int mode_of(const char *mode, petal_open_mode *found) {
  static const char *const names[] = {"read", "write", "load", "share"};
  for (petal_open_mode i = 0; i < 4; i++) {
    if (!strcmp(mode, names[i])) {
      *found = i;
      return 0;
    }
  }
  PyErr_Format(PyExc_ValueError, "mode = \"%s\" is not \"read\", \"write\", \"load\" or \"share\"", mode);
  return -1;
}

PyObject *image_make(PyTypeObject *type, PyObject *args, PyObject *kwargs, const image_calls *calls, petal_kind kind,
                     const char *what) {
  module_state *state = PyType_GetModuleState(type);
  petal_spec spec = PETAL_SPEC_INIT;
  spec.kind = kind;
  if (spec_of(state, args, kwargs, &spec, NULL, what) < 0) return NULL;
  void *raw = NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status;
  Py_BEGIN_ALLOW_THREADS
  status = calls->make(&spec, &raw, &error);
  Py_END_ALLOW_THREADS
  if (status != PETAL_OK) return raise_status(state, status, &error, NULL);
  return handle_new(state, type, calls, calls->free, raw);
}

PyObject *image_open(PyTypeObject *type, PyObject *args, PyObject *kwargs, const image_calls *calls) {
  static char *words[] = {"path", "mode", "prefault", "secret", NULL};
  PyObject *path, *secret = Py_None, *bytes = NULL;
  const char *mode = "read";
  int prefault = 0;
  module_state *state = PyType_GetModuleState(type);
  petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|s$pO", words, &path, &mode, &prefault, &secret) ||
      mode_of(mode, &options.mode) < 0 || secret_of(state, secret, options.secret) < 0 ||
      !PyUnicode_FSConverter(path, &bytes)) {
    return NULL;
  }
  options.prefault = (uint32_t)prefault;
  void *raw = NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status;
  const char *name = PyBytes_AsString(bytes);
  Py_BEGIN_ALLOW_THREADS
  status = calls->open(name, &options, &raw, &error);
  Py_END_ALLOW_THREADS
  Py_DECREF(bytes);
  if (status != PETAL_OK) return raise_status(state, status, &error, path);
  PyObject *self = handle_new(state, type, calls, calls->free, raw);
  if (self) ((handle *)self)->shares = options.mode == PETAL_OPEN_SHARE;
  return self;
}

PyObject *image_from_bytes(PyTypeObject *type, PyObject *args, PyObject *kwargs, const image_calls *calls) {
  static char *words[] = {"image", "secret", NULL};
  PyObject *image, *secret = Py_None;
  module_state *state = PyType_GetModuleState(type);
  petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
  Py_buffer view;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$O", words, &image, &secret) ||
      secret_of(state, secret, options.secret) < 0 || PyObject_GetBuffer(image, &view, PyBUF_SIMPLE) < 0) {
    return NULL;
  }
  void *raw = NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status;
  Py_BEGIN_ALLOW_THREADS
  status = calls->load(view.buf, (size_t)view.len, &options, &raw, &error);
  Py_END_ALLOW_THREADS
  PyBuffer_Release(&view);
  if (status != PETAL_OK) return raise_status(state, status, &error, NULL);
  return handle_new(state, type, calls, calls->free, raw);
}

PyObject *image_bytes(PyObject *object, PyObject *unused) {
  (void)unused;
  handle *self = (handle *)object;
  if (handle_read(self) < 0) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  uint64_t size = 0;
  PyObject *bytes = NULL;
  petal_status status = self->calls->serialized_size(self->raw, &size, &error);
  if (status == PETAL_OK && size > PY_SSIZE_T_MAX) {
    PyErr_NoMemory();
  } else if (status == PETAL_OK) {
    bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (bytes) {
      char *place = PyBytes_AsString(bytes);
      Py_BEGIN_ALLOW_THREADS
      status = self->calls->serialize(self->raw, place, (size_t)size, NULL, &error);
      Py_END_ALLOW_THREADS
    }
  }
  handle_end(self);
  if (status == PETAL_OK) return bytes;
  Py_XDECREF(bytes);
  return raise_status(self->state, status, &error, NULL);
}

PyObject *image_save(PyObject *object, PyObject *path) {
  handle *self = (handle *)object;
  PyObject *bytes;
  if (!PyUnicode_FSConverter(path, &bytes)) return NULL;
  const char *name = PyBytes_AsString(bytes);
  if (handle_read(self) < 0) {
    Py_DECREF(bytes);
    return NULL;
  }
  petal_error error = PETAL_ERROR_INIT;
  petal_status status;
  Py_BEGIN_ALLOW_THREADS
  status = self->calls->save(self->raw, name, &error);
  Py_END_ALLOW_THREADS
  handle_end(self);
  Py_DECREF(bytes);
  if (status != PETAL_OK) return raise_status(self->state, status, &error, path);
  Py_RETURN_NONE;
}

PyObject *image_copy(PyObject *object, PyObject *unused) {
  (void)unused;
  handle *self = (handle *)object;
  if (handle_read(self) < 0) return NULL;
  void *raw = NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status;
  Py_BEGIN_ALLOW_THREADS
  status = self->calls->copy(self->raw, &raw, &error);
  Py_END_ALLOW_THREADS
  handle_end(self);
  if (status != PETAL_OK) return raise_status(self->state, status, &error, NULL);
  return handle_new(self->state, Py_TYPE(object), self->calls, self->calls->free, raw);
}

PyObject *image_deepcopy(PyObject *object, PyObject *memo) {
  (void)memo;
  return image_copy(object, NULL);
}

/* Pickles are images. A keyed filter's image lacks its secret key, so that what comes out could not hash keys. */
PyObject *image_reduce(PyObject *object, PyObject *protocol) {
  (void)protocol;
  handle *self = (handle *)object;
  void *raw = handle_to_read(self);
  if (!raw) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_description description = PETAL_DESCRIPTION_INIT;
  petal_status status = self->calls->describe(raw, &description, &error);
  if (status != PETAL_OK) return raise_status(self->state, status, &error, NULL);
  if (description.hash == PETAL_HASH_SIPHASH13 || description.hash == PETAL_HASH_SIPHASH24) {
    return raise_own(self->state, ERROR_SECRET, "secret_missing",
                     "a keyed filter is not pickled, because an image lacks the secret key: send to_bytes(), and give "
                     "the key to from_bytes()");
  }
  PyObject *load = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "from_bytes");
  PyObject *image = load ? image_bytes(object, NULL) : NULL;
  PyObject *reduced = image ? Py_BuildValue("O(O)", load, image) : NULL;
  Py_XDECREF(load);
  Py_XDECREF(image);
  return reduced;
}

/* Runs a call that may take long, without the GIL, on a handle that was got to read or to change it: 0, or -1. */
static PyObject *run(handle *self, int got, petal_status (*call)(void *, petal_error *)) {
  if (got < 0) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status;
  Py_BEGIN_ALLOW_THREADS
  status = call(self->raw, &error);
  Py_END_ALLOW_THREADS
  handle_end(self);
  if (status != PETAL_OK) return raise_status(self->state, status, &error, NULL);
  Py_RETURN_NONE;
}

PyObject *image_verify(PyObject *object, PyObject *unused) {
  (void)unused;
  handle *self = (handle *)object;
  return run(self, handle_read(self), self->calls->verify);
}

PyObject *image_sync(PyObject *object, PyObject *unused) {
  (void)unused;
  handle *self = (handle *)object;
  return run(self, handle_change(self), self->calls->sync);
}

PyObject *image_mark_clean(PyObject *object, PyObject *unused) {
  (void)unused;
  handle *self = (handle *)object;
  return run(self, handle_change(self), self->calls->mark_clean);
}

static int describe(handle *self, petal_description *description) {
  petal_description empty = PETAL_DESCRIPTION_INIT;
  *description = empty;
  void *raw = handle_to_read(self);
  if (!raw) return -1;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status = self->calls->describe(raw, description, &error);
  if (status == PETAL_OK) return 0;
  raise_status(self->state, status, &error, NULL);
  return -1;
}

PyObject *image_info(PyObject *object, void *unused) {
  (void)unused;
  handle *self = (handle *)object;
  petal_description description;
  return describe(self, &description) < 0 ? NULL : info_record(self->state, &description);
}

PyObject *image_kind(PyObject *object, void *unused) {
  (void)unused;
  handle *self = (handle *)object;
  petal_description description;
  petal_kind_info kind = PETAL_KIND_INFO_INIT;
  if (describe(self, &description) < 0 || kind_of_number(self->state, description.kind, &kind) < 0) return NULL;
  return PyUnicode_FromString(kind.name);
}

PyObject *image_capabilities(PyObject *object, void *unused) {
  (void)unused;
  handle *self = (handle *)object;
  void *raw = handle_to_read(self);
  return raw ? capability_names(self->calls->capabilities(raw)) : NULL;
}

PyObject *image_repr(PyObject *object) {
  handle *self = (handle *)object;
  PyObject *name = PyType_GetName(Py_TYPE(object));
  if (!name) return NULL;
  PyObject *text = NULL;
  petal_description described;
  petal_kind_info kind = PETAL_KIND_INFO_INIT;
  if (!self->raw) {
    text = PyUnicode_FromFormat("<petal.%U, closed>", name);
  } else if (describe(self, &described) == 0 && kind_of_number(self->state, described.kind, &kind) == 0) {
    PyObject *rate = PyFloat_FromDouble(described.false_positive_rate);
    PyObject *shown = rate ? PyObject_Str(rate) : NULL;
    if (shown && self->calls == &sketch_calls) {
      text = PyUnicode_FromFormat("<petal.%U %s: for %llu differences, %llu keys, %llu bytes>", name, kind.name,
                                  (unsigned long long)described.capacity, (unsigned long long)described.insertions,
                                  (unsigned long long)described.bytes);
    } else if (shown && described.capacity > 0) {
      double thousandths = 1000.0 * (double)described.insertions / (double)described.capacity;
      unsigned long long tenths = thousandths < 1e15 ? (unsigned long long)thousandths : 1000000000000000;
      text = PyUnicode_FromFormat("<petal.%U %s: %llu of %llu keys (%llu.%llu %%), rate %U, %llu bytes>", name, kind.name,
                                  (unsigned long long)described.insertions, (unsigned long long)described.capacity,
                                  tenths / 10, tenths % 10, shown, (unsigned long long)described.bytes);
    } else if (shown) {
      text = PyUnicode_FromFormat("<petal.%U %s: %llu keys, rate %U, %llu bytes>", name, kind.name,
                                  (unsigned long long)described.insertions, shown, (unsigned long long)described.bytes);
    }
    Py_XDECREF(rate);
    Py_XDECREF(shown);
  }
  Py_DECREF(name);
  return text;
}
