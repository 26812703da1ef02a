/* What builders of filters and of maps share. */

#ifndef PETAL_BUILDER_H
#define PETAL_BUILDER_H

#include "binding.h"

/* Where a builder's callback finds the function, and the thread that called the builder. */
typedef struct progress {
  /* Borrowed from the handle. */
  PyObject *function;
  PyThreadState *thread;
} progress;

/* A call that makes something in memory or in a file. */
typedef petal_status (*maker_call)(void *raw, const char *path, void **made, petal_error *error);
typedef petal_status (*maker_serialize)(void *raw, petal_write_callback write, void *context, petal_error *error);
typedef petal_status (*maker_load)(void *raw, const void *state, size_t length, petal_error *error);

/* Fills in the options; `directory` gets what they refer to. NULL with an exception. */
void *maker_options(module_state *state, const builder_arguments *arguments, petal_builder_options *options,
                    PyObject **directory);
/* Makes the object around a builder, and owns both `raw` and `told` from then on. */
PyObject *maker_object(module_state *state, PyTypeObject *type, void (*release)(void *), void *raw, progress *told);
int maker_traverse(PyObject *self, visitproc visit, void *arg);
int maker_clear(PyObject *self);

petal_status maker_run(handle *self, maker_call call, const char *path, void **made, petal_error *error);
PyObject *maker_raise(handle *self, petal_status status, const petal_error *error, PyObject *path);
PyObject *maker_save(PyObject *self, PyObject *path, maker_call call);
PyObject *maker_finish(PyObject *self, maker_call call, PyTypeObject *type, const image_calls *calls);
PyObject *maker_state(PyObject *self, maker_serialize call);
PyObject *maker_merge(PyObject *self, PyObject *state, maker_load call);
PyObject *maker_count(PyObject *self, petal_status (*call)(const void *, uint64_t *, petal_error *));
/* Runs a batch call that takes a number with each key. */
PyObject *maker_with_numbers(handle *self, PyObject *keys, PyObject *numbers, const char *what, bool hashed,
                             batch_call call);

#define MAKER_METHODS                                                                                                  \
  {"close", handle_close, METH_NOARGS, close_doc}, {"__enter__", handle_enter, METH_NOARGS, NULL},                     \
    {"__exit__", handle_exit, METH_VARARGS, NULL}

#endif
