/* Exceptions: one class for each thing that callers do differently, and the status by name on each. */

#include "binding.h"

typedef struct class_row {
  const char *name;
  const char *qualified;
  /* The built-in class that it derives from too, or NULL. */
  PyObject **also;
  const char *doc;
} class_row;

static const char *status_name(petal_status status) {
  static const char *const names[] = {
    "ok",           "internal",         "null",           "struct_size",    "unknown_value", "out_of_range",
    "false_positive_rate", "contradiction", "too_large",  "out_of_memory",  "offsets",       "buffer_too_small",
    "misaligned",   "unsupported",      "incompatible",   "external_hash",  "secret_missing", "secret_mismatch",
    "foreign",      "truncated",        "corrupt",        "newer_version",  "unclean",       "io",
    "not_found",    "access_denied",    "no_space",       "locked",         "mapped_path",   "cancelled",
    "callback",     "full",             "unsupported_by_handle", "unsupported_by_build",
  };
  size_t number = status <= 0 ? (size_t)-(int64_t)status : SIZE_MAX;
  return number < sizeof names / sizeof *names ? names[number] : "unknown";
}

static enum error_class class_of(petal_status status) {
  switch (status) {
  case PETAL_ERR_UNKNOWN_VALUE:
  case PETAL_ERR_OUT_OF_RANGE:
  case PETAL_ERR_FALSE_POSITIVE_RATE:
  case PETAL_ERR_CONTRADICTION:
  case PETAL_ERR_TOO_LARGE:
  case PETAL_ERR_OFFSETS:
  case PETAL_ERR_BUFFER_TOO_SMALL:
  case PETAL_ERR_MISALIGNED:
    return ERROR_PARAMETER;
  case PETAL_ERR_INCOMPATIBLE:
    return ERROR_INCOMPATIBLE;
  case PETAL_ERR_UNSUPPORTED:
  case PETAL_ERR_EXTERNAL_HASH:
  case PETAL_ERR_UNSUPPORTED_BY_HANDLE:
  case PETAL_ERR_UNSUPPORTED_BY_BUILD:
    return ERROR_UNSUPPORTED;
  case PETAL_ERR_SECRET_MISSING:
  case PETAL_ERR_SECRET_MISMATCH:
    return ERROR_SECRET;
  case PETAL_ERR_FOREIGN:
  case PETAL_ERR_TRUNCATED:
  case PETAL_ERR_CORRUPT:
  case PETAL_ERR_NEWER_VERSION:
  case PETAL_ERR_UNCLEAN:
    return ERROR_IMAGE;
  case PETAL_ERR_FULL:
    return ERROR_FULL;
  case PETAL_ERR_NOT_FOUND:
    return ERROR_FILE_MISSING;
  case PETAL_ERR_ACCESS_DENIED:
    return ERROR_FILE_DENIED;
  case PETAL_ERR_IO:
  case PETAL_ERR_NO_SPACE:
  case PETAL_ERR_LOCKED:
  case PETAL_ERR_MAPPED_PATH:
    return ERROR_FILE;
  case PETAL_ERR_OUT_OF_MEMORY:
    return ERROR_MEMORY;
  case PETAL_ERR_CANCELLED:
  case PETAL_ERR_CALLBACK:
    return ERROR_CANCELLED;
  case PETAL_ERR_INTERNAL:
    return ERROR_INTERNAL;
  default:
    return ERROR_BASE;
  }
}

int errors_init(PyObject *module, module_state *state) {
  const class_row rows[ERROR_CLASSES] = {
    [ERROR_BASE] = {"Error", "petal.Error", NULL,
                    "A call that failed. `status` is the name of the library's status, such as 'out_of_range'."},
    [ERROR_PARAMETER] = {"ParameterError", "petal.ParameterError", &PyExc_ValueError,
                         "A parameter is unknown, outside its bounds, or contradicts another one."},
    [ERROR_INCOMPATIBLE] = {"IncompatibleError", "petal.IncompatibleError", &PyExc_ValueError,
                            "Two filters differ in kind, geometry, hash function, seed or secret."},
    [ERROR_UNSUPPORTED] = {"UnsupportedError", "petal.UnsupportedError", &PyExc_ValueError,
                           "The kind, the format or this handle cannot do that."},
    [ERROR_SECRET] = {"SecretError", "petal.SecretError", &PyExc_ValueError,
                      "The filter is keyed, and its secret key was not given, or another one was."},
    [ERROR_IMAGE] = {"ImageError", "petal.ImageError", &PyExc_ValueError,
                     "The bytes are no image, or one that is damaged, cut off, unclean or of a later version."},
    [ERROR_FULL] = {"FullError", "petal.FullError", NULL, "There is no room for another key."},
    [ERROR_FILE] = {"FileError", "petal.FileError", &PyExc_OSError, "The operating system reported an error."},
    [ERROR_FILE_MISSING] = {"FileMissingError", "petal.FileMissingError", &PyExc_FileNotFoundError,
                            "The file does not exist."},
    [ERROR_FILE_DENIED] = {"FileDeniedError", "petal.FileDeniedError", &PyExc_PermissionError,
                           "The operating system denies access."},
    [ERROR_MEMORY] = {"OutOfMemoryError", "petal.OutOfMemoryError", &PyExc_MemoryError, "There is not enough memory."},
    [ERROR_CANCELLED] = {"CancelledError", "petal.CancelledError", NULL, "The progress function asked to stop."},
    [ERROR_CLOSED] = {"ClosedError", "petal.ClosedError", &PyExc_ValueError, "The object was closed."},
    [ERROR_BUSY] = {"BusyError", "petal.BusyError", &PyExc_RuntimeError,
                    "The object is in use by the call that runs this callback, or was so when the process forked."},
    [ERROR_INTERNAL] = {"InternalError", "petal.InternalError", &PyExc_SystemError,
                        "The library caught one of its own bugs: close the object."},
  };
  for (size_t i = 0; i < ERROR_CLASSES; i++) {
    const class_row *row = &rows[i];
    PyObject *base = i == ERROR_FILE_MISSING || i == ERROR_FILE_DENIED ? state->errors[ERROR_FILE] : state->errors[0];
    PyObject *bases = i == 0 ? NULL : row->also ? PyTuple_Pack(2, base, *row->also) : PyTuple_Pack(1, base);
    if (i > 0 && !bases) return -1;
    PyObject *members = Py_BuildValue("{sO}", "status", Py_None);
    state->errors[i] = members ? PyErr_NewExceptionWithDoc(row->qualified, row->doc, bases, members) : NULL;
    Py_XDECREF(members);
    Py_XDECREF(bases);
    if (!state->errors[i] || PyModule_AddObjectRef(module, row->name, state->errors[i]) < 0) return -1;
  }
  return 0;
}

static PyObject *raise_made(PyObject *type, PyObject *raised, const char *status) {
  if (!raised) return NULL;
  PyObject *name = PyUnicode_FromString(status);
  if (name && PyObject_SetAttrString(raised, "status", name) == 0) PyErr_SetObject(type, raised);
  Py_XDECREF(name);
  Py_DECREF(raised);
  return NULL;
}

PyObject *raise_status(module_state *state, petal_status status, const petal_error *error, PyObject *path) {
  if (status == PETAL_ERR_NULL) {
    return raise_own(state, ERROR_CLOSED, "closed", "the object is closed");
  }
  enum error_class which = class_of(status);
  const char *message = petal_status_message(status);
  if (error && error->status == status && error->message[0]) message = error->message;
  PyObject *type = state->errors[which];
  PyObject *raised;
  int number = error ? error->os_error : 0;
  if ((which == ERROR_FILE || which == ERROR_FILE_MISSING || which == ERROR_FILE_DENIED) && number) {
    raised = path ? PyObject_CallFunction(type, "isO", number, message, path)
                  : PyObject_CallFunction(type, "is", number, message);
  } else {
    raised = PyObject_CallFunction(type, "s", message);
  }
  return raise_made(type, raised, status_name(status));
}

PyObject *raise_own(module_state *state, enum error_class which, const char *status, const char *message) {
  PyObject *type = state->errors[which];
  return raise_made(type, PyObject_CallFunction(type, "s", message), status);
}
