/*
 * petal.Array: answers as an Arrow array, of bits or of uint64_t. pyarrow, Polars and others take it by the PyCapsule
 * interface. Its memory has a count of references of its own, because consumers release arrays without the GIL.
 */

#include "arrow.h"
#include "binding.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct block {
  atomic_size_t references;
  void *memory;
} block;

typedef struct array {
  PyObject_HEAD
  block *block;
  size_t length;
  char format[2];
} array;

static void block_release(block *self) {
  if (atomic_fetch_sub(&self->references, 1) == 1) {
    free(self->memory);
    free(self);
  }
}

PyObject *array_new(module_state *state, char format, void *memory, size_t length) {
  block *owner = malloc(sizeof *owner);
  array *self = NULL;
  if (owner) {
    allocfunc alloc = (allocfunc)PyType_GetSlot(state->array, Py_tp_alloc);
    self = (array *)alloc(state->array, 0);
  } else {
    PyErr_NoMemory();
  }
  if (!self) {
    free(owner);
    free(memory);
    return NULL;
  }
  atomic_init(&owner->references, 1);
  owner->memory = memory;
  self->block = owner;
  self->length = length;
  self->format[0] = format;
  return (PyObject *)self;
}

static void array_dealloc(PyObject *object) {
  array *self = (array *)object;
  PyTypeObject *type = Py_TYPE(object);
  if (self->block) block_release(self->block);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(object);
  Py_DECREF(type);
}

static Py_ssize_t array_length(PyObject *object) { return (Py_ssize_t)((array *)object)->length; }

static PyObject *array_item(PyObject *object, Py_ssize_t index) {
  array *self = (array *)object;
  if (index < 0 || (size_t)index >= self->length) {
    PyErr_SetString(PyExc_IndexError, "the index is outside the array");
    return NULL;
  }
  if (self->format[0] == 'L') return PyLong_FromUnsignedLongLong(((const uint64_t *)self->block->memory)[index]);
  return PyBool_FromLong(((const uint8_t *)self->block->memory)[index / 8] >> (index % 8) & 1);
}

static void release_schema(struct ArrowSchema *schema) {
  free(schema->private_data);
  schema->release = NULL;
}

typedef struct exported {
  block *block;
  const void *buffers[2];
} exported;

static void release_array(struct ArrowArray *given) {
  exported *data = given->private_data;
  block_release(data->block);
  free(data);
  given->release = NULL;
}

static void free_schema_capsule(PyObject *capsule) {
  struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
  if (schema->release) schema->release(schema);
  free(schema);
}

static void free_array_capsule(PyObject *capsule) {
  struct ArrowArray *given = PyCapsule_GetPointer(capsule, "arrow_array");
  if (given->release) given->release(given);
  free(given);
}

static PyObject *schema_capsule(const array *self) {
  struct ArrowSchema *schema = calloc(1, sizeof *schema);
  char *format = malloc(2);
  if (!schema || !format) {
    free(schema);
    free(format);
    return PyErr_NoMemory();
  }
  memcpy(format, self->format, 2);
  schema->format = format;
  schema->name = "";
  schema->private_data = format;
  schema->release = release_schema;
  PyObject *capsule = PyCapsule_New(schema, "arrow_schema", free_schema_capsule);
  if (!capsule) {
    release_schema(schema);
    free(schema);
  }
  return capsule;
}

static PyObject *array_capsule(const array *self) {
  struct ArrowArray *given = calloc(1, sizeof *given);
  exported *data = malloc(sizeof *data);
  if (!given || !data) {
    free(given);
    free(data);
    return PyErr_NoMemory();
  }
  atomic_fetch_add(&self->block->references, 1);
  data->block = self->block;
  data->buffers[0] = NULL;
  data->buffers[1] = self->block->memory;
  given->length = (int64_t)self->length;
  given->n_buffers = 2;
  given->buffers = data->buffers;
  given->private_data = data;
  given->release = release_array;
  PyObject *capsule = PyCapsule_New(given, "arrow_array", free_array_capsule);
  if (!capsule) {
    release_array(given);
    free(given);
  }
  return capsule;
}

static PyObject *array_c_schema(PyObject *object, PyObject *unused) {
  (void)unused;
  return schema_capsule((array *)object);
}

static PyObject *array_c_array(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *words[] = {"requested_schema", NULL};
  PyObject *requested = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", words, &requested)) return NULL;
  PyObject *schema = schema_capsule((array *)object);
  PyObject *data = schema ? array_capsule((array *)object) : NULL;
  PyObject *both = data ? PyTuple_Pack(2, schema, data) : NULL;
  Py_XDECREF(schema);
  Py_XDECREF(data);
  return both;
}

static PyObject *array_to_list(PyObject *object, PyObject *unused) {
  (void)unused;
  return PySequence_List(object);
}

static PyObject *array_repr(PyObject *object) {
  array *self = (array *)object;
  return PyUnicode_FromFormat("<petal.Array of %zu %s>", self->length, self->format[0] == 'L' ? "uint64" : "bools");
}

static PyMethodDef methods[] = {
  {"__arrow_c_schema__", array_c_schema, METH_NOARGS, NULL},
  {"__arrow_c_array__", WITH_KEYWORDS(array_c_array), METH_VARARGS | METH_KEYWORDS, NULL},
  {"to_list", array_to_list, METH_NOARGS, "to_list($self)\n--\n\nThe elements as a list of Python objects."},
  {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
  {Py_tp_doc, "Answers as an Arrow array, which pyarrow.array() and polars.Series() take without a copy."},
  {Py_tp_dealloc, array_dealloc},
  {Py_tp_repr, array_repr},
  {Py_tp_methods, methods},
  {Py_sq_length, array_length},
  {Py_sq_item, array_item},
  {0, NULL},
};

PyType_Spec array_spec = {
  .name = "petal.Array",
  .basicsize = sizeof(array),
  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
  .slots = slots,
};
