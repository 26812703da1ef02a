/* One key: bytes, str, int, or another object that has bytes or is an int. */

#include "binding.h"

int number_of(PyObject *object, const char *what, uint64_t *number) {
  unsigned long long value;
  if (PyLong_CheckExact(object)) {
    value = PyLong_AsUnsignedLongLong(object);
  } else {
    PyObject *index = PyNumber_Index(object);
    if (!index) return -1;
    value = PyLong_AsUnsignedLongLong(index);
    Py_DECREF(index);
  }
  if (value == (unsigned long long)-1 && PyErr_Occurred()) {
    if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
      PyErr_Clear();
      PyErr_Format(PyExc_OverflowError, "%s = %R is not from 0 to 2**64 - 1", what, object);
    }
    return -1;
  }
  *number = value;
  return 0;
}

/* Whether the buffer of an object is one row of bytes. Dates of NumPy have such a buffer too, and no length. */
static bool is_bytes(PyObject *object, const Py_buffer *view) {
  if (PyObject_Size(object) < 0) {
    PyErr_Clear();
    return false;
  }
  return view->itemsize == 1 && view->ndim == 1 &&
         (!view->format || !strcmp(view->format, "B") || !strcmp(view->format, "b") || !strcmp(view->format, "c"));
}

int one_key_slow(PyObject *object, one_key *key) {
  key->is_number = key->has_view = false;
  if (PyUnicode_Check(object)) {
    /* A class of somebody's own. */
    Py_ssize_t length;
    key->data = PyUnicode_AsUTF8AndSize(object, &length);
    key->length = (size_t)length;
    return key->data ? 0 : -1;
  }
  if (PyIndex_Check(object)) {
    /* An array of one number counts as an int too, but is no key. */
    if (number_of(object, "the key", &key->number) < 0) return -1;
    key->is_number = true;
    return 0;
  }
  if (PyObject_CheckBuffer(object)) {
    if (PyObject_GetBuffer(object, &key->view, PyBUF_FULL_RO) < 0) return -1;
    if (is_bytes(object, &key->view)) {
      if (!PyBuffer_IsContiguous(&key->view, 'C')) {
        PyBuffer_Release(&key->view);
        PyErr_SetString(PyExc_ValueError, "the key's bytes are not contiguous: copy them with bytes()");
        return -1;
      }
      key->data = key->view.buf;
      key->length = (size_t)key->view.len;
      key->has_view = true;
      return 0;
    }
    PyBuffer_Release(&key->view);
  }
  PyObject *name = PyType_GetQualName(Py_TYPE(object));
  PyErr_Format(PyExc_TypeError, "a key is bytes, str or int, not %S; many keys go to update() and contains()",
               name ? name : Py_None);
  Py_XDECREF(name);
  return -1;
}
