/* Filters and maps on the wire: packed forms, and what changed between two states of one. */

#include "binding.h"

#include <stdlib.h>

bool written_take(void *context, const void *bytes, size_t length) {
  written *into = context;
  if (length > into->room - into->length) {
    size_t room = into->room ? into->room : 65536;
    while (room - into->length < length) {
      if (room > SIZE_MAX / 2) return false;
      room *= 2;
    }
    uint8_t *grown = realloc(into->bytes, room);
    if (!grown) return false;
    into->bytes = grown;
    into->room = room;
  }
  memcpy(into->bytes + into->length, bytes, length);
  into->length += length;
  return true;
}

/* The library's functions for both types. */
static petal_status pack_to(bool map, const void *raw, written *into, petal_error *error) {
  return map ? petal_map_pack_to(raw, written_take, into, error) : petal_filter_pack_to(raw, written_take, into, error);
}

static petal_status delta_to(bool map, const void *older, const void *newer, written *into, petal_error *error) {
  return map ? petal_map_delta_to(older, newer, written_take, into, error)
             : petal_filter_delta_to(older, newer, written_take, into, error);
}

static petal_status unpack(bool map, const Py_buffer *view, uint64_t most, const petal_open_options *options,
                           void **made, petal_error *error) {
  petal_map *as_map = NULL;
  petal_filter *as_filter = NULL;
  petal_status status = map ? petal_map_unpack(view->buf, (size_t)view->len, most, options, &as_map, error)
                            : petal_filter_unpack(view->buf, (size_t)view->len, most, options, &as_filter, error);
  *made = map ? (void *)as_map : (void *)as_filter;
  return status;
}

static bool is_map(const handle *self) { return self->calls == &map_calls; }

/* What was written as bytes, or the exception. */
static PyObject *bytes_of(handle *self, written *into, petal_status status, const petal_error *error) {
  PyObject *bytes = NULL;
  if (status == PETAL_OK) {
    bytes = PyBytes_FromStringAndSize((const char *)into->bytes, (Py_ssize_t)into->length);
  } else if (status == PETAL_ERR_CALLBACK) {
    PyErr_NoMemory();
  } else {
    raise_status(self->state, status, error, NULL);
  }
  free(into->bytes);
  return bytes;
}

const char pack_doc[] =
  "pack($self)\n--\n\nThe packed form, for a message: smaller than the image unless it is full. Experimental.";

PyObject *wire_pack(PyObject *object, PyObject *unused) {
  (void)unused;
  handle *self = (handle *)object;
  if (handle_read(self) < 0) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  written into = {NULL, 0, 0};
  petal_status status;
  Py_BEGIN_ALLOW_THREADS
  status = pack_to(is_map(self), self->raw, &into, &error);
  Py_END_ALLOW_THREADS
  handle_end(self);
  return bytes_of(self, &into, status, &error);
}

const char unpack_doc[] =
  "unpack($type, packed, most_bytes, *, secret=None)\n--\n\n"
  "Makes one from its packed form. A form may claim a large image in few bytes: more than most_bytes is refused.";

PyObject *wire_unpack(PyObject *type, PyObject *args, PyObject *kwargs) {
  static char *words[] = {"packed", "most_bytes", "secret", NULL};
  module_state *state = PyType_GetModuleState((PyTypeObject *)type);
  const image_calls *calls = (PyTypeObject *)type == state->map ? &map_calls : &filter_calls;
  PyObject *packed, *most, *secret = Py_None;
  uint64_t most_bytes;
  petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
  Py_buffer view;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$O", words, &packed, &most, &secret) ||
      number_of(most, "most_bytes", &most_bytes) < 0 || secret_of(state, secret, options.secret) < 0 ||
      PyObject_GetBuffer(packed, &view, PyBUF_SIMPLE) < 0) {
    return NULL;
  }
  petal_error error = PETAL_ERROR_INIT;
  void *made = NULL;
  petal_status status;
  Py_BEGIN_ALLOW_THREADS
  status = unpack(calls == &map_calls, &view, most_bytes, &options, &made, &error);
  Py_END_ALLOW_THREADS
  PyBuffer_Release(&view);
  if (status != PETAL_OK) return raise_status(state, status, &error, NULL);
  return handle_new(state, (PyTypeObject *)type, calls, calls->free, made);
}

const char delta_doc[] =
  "delta($self, older, /)\n--\n\nWhat changed from an older state to this one, as bytes for patch(). Experimental.";

PyObject *wire_delta(PyObject *object, PyObject *older) {
  handle *self = (handle *)object;
  if (Py_TYPE(older) != Py_TYPE(object)) {
    PyErr_SetString(PyExc_TypeError, "the older state is not of the same type");
    return NULL;
  }
  if (handle_read_both(self, (handle *)older) < 0) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  written into = {NULL, 0, 0};
  petal_status status;
  const void *before = ((handle *)older)->raw;
  Py_BEGIN_ALLOW_THREADS
  status = delta_to(is_map(self), before, self->raw, &into, &error);
  Py_END_ALLOW_THREADS
  handle_end((handle *)older);
  handle_end(self);
  return bytes_of(self, &into, status, &error);
}

const char patch_doc[] =
  "patch($self, delta, most_bytes)\n--\n\n"
  "Changes this from the older state of a delta to the newer one, whose image may have most_bytes. A failure changes\n"
  "nothing.";

PyObject *wire_patch(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *words[] = {"delta", "most_bytes", NULL};
  handle *self = (handle *)object;
  PyObject *delta, *most;
  uint64_t most_bytes;
  Py_buffer view;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO", words, &delta, &most) ||
      number_of(most, "most_bytes", &most_bytes) < 0 || PyObject_GetBuffer(delta, &view, PyBUF_SIMPLE) < 0) {
    return NULL;
  }
  PyObject *result = NULL;
  if (handle_change(self) == 0) {
    petal_error error = PETAL_ERROR_INIT;
    petal_status status;
    Py_BEGIN_ALLOW_THREADS
    status = is_map(self) ? petal_map_patch(self->raw, view.buf, (size_t)view.len, most_bytes, &error)
                          : petal_filter_patch(self->raw, view.buf, (size_t)view.len, most_bytes, &error);
    Py_END_ALLOW_THREADS
    handle_end(self);
    result = status == PETAL_OK ? Py_NewRef(Py_None) : raise_status(self->state, status, &error, NULL);
  }
  PyBuffer_Release(&view);
  return result;
}
