/* What takes two images of one type and changes one of them, for filters and sketches. */

#include "binding.h"

/* Changes one image by another. An image that is both is read from a copy. -1 with an exception. */
static int change(handle *self, PyObject *other, change_by call) {
  PyObject *copy = NULL;
  if ((PyObject *)self == other) {
    copy = image_copy(other, NULL);
    if (!copy) return -1;
    other = copy;
  }
  if (handle_change_and_read(self, (handle *)other) < 0) {
    Py_XDECREF(copy);
    return -1;
  }
  petal_error error = PETAL_ERROR_INIT;
  petal_status status;
  void *theirs = ((handle *)other)->raw;
  Py_BEGIN_ALLOW_THREADS
  status = call(self->raw, theirs, &error);
  Py_END_ALLOW_THREADS
  handle_end((handle *)other);
  handle_end(self);
  Py_XDECREF(copy);
  if (status == PETAL_OK) return 0;
  raise_status(self->state, status, &error, NULL);
  return -1;
}

/* Types are final, so two objects are of one noun if they have one type. */
PyObject *image_combined(PyObject *one, PyObject *other, change_by call) {
  if (Py_TYPE(one) != Py_TYPE(other)) return Py_NewRef(Py_NotImplemented);
  PyObject *copy = image_copy(one, NULL);
  if (copy && change((handle *)copy, other, call) < 0) Py_CLEAR(copy);
  return copy;
}

PyObject *image_changed(PyObject *one, PyObject *other, change_by call) {
  if (Py_TYPE(one) != Py_TYPE(other)) return Py_NewRef(Py_NotImplemented);
  return change((handle *)one, other, call) < 0 ? NULL : Py_NewRef(one);
}
