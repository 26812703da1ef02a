/* Keys of a list or of any other iterable, gathered in chunks. */

#include "source.h"

/* None, and what pandas has in its place: a NaN, or an object of the type NAType. */
static bool is_null(PyObject *item) {
  if (item == Py_None) return true;
  if (PyFloat_Check(item)) {
    double value = PyFloat_AsDouble(item);
    return value != value;
  }
  if (PyUnicode_CheckExact(item) || PyBytes_CheckExact(item) || PyLong_CheckExact(item)) return false;
  PyObject *name = PyType_GetName(Py_TYPE(item));
  int is_na = name ? PyUnicode_CompareWithASCIIString(name, "NAType") == 0 : 0;
  Py_XDECREF(name);
  return is_na;
}

/* Puts a key into the chunk: 1, or 0 if the chunk has keys of the other form, or -1 with an exception. */
static int gather(source *self, PyObject *item) {
  if (self->skip_nulls && is_null(item)) return source_row(self, true) < 0 ? -1 : 1;
  one_key key;
  if (one_key_of(item, &key) < 0) return -1;
  int added = 1;
  if (self->chunk_count > 0 && key.is_number != self->chunk_is_numbers) {
    added = 0;
  } else if (key.is_number) {
    self->chunk_is_numbers = true;
    chunk_add_number(self, key.number);
  } else {
    self->chunk_is_numbers = false;
    if (chunk_add_bytes(self, key.data, key.length) < 0) added = -1;
  }
  one_key_done(&key);
  if (added == 1 && source_row(self, false) < 0) return -1;
  return added;
}

static int next_chunk(source *self) {
  if (!self->iterator) return 0;
  if (chunk_begin(self, false) < 0) return -1;
  while (!chunk_is_full(self)) {
    PyObject *item = self->pending ? self->pending : PyIter_Next(self->iterator);
    self->pending = NULL;
    if (!item) {
      if (PyErr_Occurred()) return -1;
      Py_CLEAR(self->iterator);
      break;
    }
    int added = gather(self, item);
    if (added == 0) {
      self->pending = item;
      break;
    }
    Py_DECREF(item);
    if (added < 0) return -1;
  }
  chunk_end(self);
  return self->chunk_count > 0 || self->iterator;
}

int source_of_iterable(source *self, PyObject *keys) {
  self->iterator = PyObject_GetIter(keys);
  if (!self->iterator) return -1;
  self->next = next_chunk;
  Py_ssize_t length = PyObject_Size(keys);
  if (length < 0) PyErr_Clear();
  /* The length is what the object says, so it is believed only so far. */
  self->expected = length > 0 && (size_t)length < PIECE_KEYS ? (size_t)length : 0;
  return 0;
}
