/* Many keys from Python, piece by piece: which way they come, and what the ways share. */

#include "source.h"

#include <stdlib.h>

int chunk_begin(source *self, bool numbers) {
  if (!self->chunk_numbers) {
    self->chunk_numbers = malloc(CHUNK_KEYS * sizeof *self->chunk_numbers);
    self->chunk_offsets = malloc((CHUNK_KEYS + 1) * sizeof *self->chunk_offsets);
    if (!self->chunk_numbers || !self->chunk_offsets) return no_memory(self);
  }
  self->chunk_is_numbers = numbers;
  self->chunk_count = 0;
  self->chunk_used = 0;
  self->chunk_offsets[0] = 0;
  return 0;
}

int chunk_grow(source *self, size_t length) {
  size_t room = self->chunk_room ? self->chunk_room : 65536;
  while (room - self->chunk_used < length) {
    if (room > SIZE_MAX / 2) return no_memory(self);
    room *= 2;
  }
  uint8_t *bytes = realloc(self->chunk_bytes, room);
  if (!bytes) return no_memory(self);
  self->chunk_bytes = bytes;
  self->chunk_room = room;
  return 0;
}

void piece_of_numbers(source *self, const uint64_t *numbers, size_t count) {
  self->piece = self->hashed ? petal_keys_hashes(numbers, count) : petal_keys_u64(numbers, count);
}

void chunk_end(source *self) {
  if (self->chunk_is_numbers) {
    piece_of_numbers(self, self->chunk_numbers, self->chunk_count);
  } else {
    self->piece = petal_keys_bytes(self->chunk_bytes, self->chunk_used, self->chunk_offsets, self->chunk_count);
  }
}

/* Makes room in `valid` for `rows` rows; all rows before the first null are there. */
static int reserve_valid(source *self, size_t rows) {
  size_t needed = rows / 8 + 1;
  if (needed <= self->valid_room) return 0;
  size_t room = needed + self->valid_room + 1024;
  uint8_t *valid = realloc(self->valid, room);
  if (!valid) return no_memory(self);
  memset(valid + self->valid_room, 0xff, room - self->valid_room);
  self->valid = valid;
  self->valid_room = room;
  return 0;
}

int source_null_row(source *self, bool is_null) {
  size_t row = self->rows++;
  if (reserve_valid(self, self->rows) < 0) return -1;
  if (is_null) self->valid[row / 8] &= (uint8_t)~(1u << (row % 8));
  return 0;
}

int source_rows(source *self, size_t count) {
  self->rows += count;
  return self->valid ? reserve_valid(self, self->rows) : 0;
}

static int note(source *self, enum fault_kind fault, size_t row, int64_t number, const char *text) {
  self->fault = fault;
  self->fault_row = row;
  self->fault_number = number;
  self->fault_text = text;
  return -1;
}

int refuse_null(source *self, size_t row) { return note(self, FAULT_NULL, row, 0, NULL); }

int refuse_negative(source *self, size_t row, int64_t number) { return note(self, FAULT_NEGATIVE, row, number, NULL); }

int refuse_code_point(source *self, size_t row, uint32_t letter) {
  return note(self, FAULT_CODE_POINT, row, letter, NULL);
}

int damaged(source *self, const char *what) { return note(self, FAULT_DAMAGED, 0, 0, what); }

int no_memory(source *self) { return note(self, FAULT_MEMORY, 0, 0, NULL); }

/* Raises the exception for what was noted, if anything was. */
void raise_fault(const source *self) {
  switch (self->fault) {
  case FAULT_NONE:
    break;
  case FAULT_NULL:
    PyErr_Format(PyExc_ValueError, "key %zu is a null: nulls=\"skip\" leaves nulls out", self->fault_row);
    break;
  case FAULT_NEGATIVE:
    PyErr_Format(PyExc_OverflowError, "%s %zu = %lld is not from 0 to 2**64 - 1",
                 self->numbers_only ? self->numbers_only : "key", self->fault_row, (long long)self->fault_number);
    break;
  case FAULT_CODE_POINT:
    PyErr_Format(PyExc_ValueError, "key %zu has the code point %lld, which UTF-8 does not have", self->fault_row,
                 (long long)self->fault_number);
    break;
  case FAULT_DAMAGED:
    PyErr_Format(PyExc_ValueError, "the Arrow array is damaged: %s", self->fault_text);
    break;
  case FAULT_MEMORY:
    PyErr_NoMemory();
    break;
  }
}

bool item_number(int item, const void *place, uint64_t *number, int64_t *negative) {
  int64_t value;
  switch (item) {
  case ITEM_U8:
    *number = *(const uint8_t *)place;
    return true;
  case ITEM_U16: {
    uint16_t wide;
    memcpy(&wide, place, sizeof wide);
    *number = wide;
    return true;
  }
  case ITEM_U32: {
    uint32_t wide;
    memcpy(&wide, place, sizeof wide);
    *number = wide;
    return true;
  }
  case ITEM_U64:
    memcpy(number, place, sizeof *number);
    return true;
  case ITEM_I8:
    value = *(const int8_t *)place;
    break;
  case ITEM_I16: {
    int16_t wide;
    memcpy(&wide, place, sizeof wide);
    value = wide;
    break;
  }
  case ITEM_I32: {
    int32_t wide;
    memcpy(&wide, place, sizeof wide);
    value = wide;
    break;
  }
  default:
    memcpy(&value, place, sizeof value);
    break;
  }
  *number = (uint64_t)value;
  *negative = value;
  return value >= 0;
}

static source *source_begin(module_state *state, bool hashed, bool skip_nulls, const char *numbers_only) {
  source *self = calloc(1, sizeof *self);
  if (!self) {
    PyErr_NoMemory();
    return NULL;
  }
  self->state = state;
  self->hashed = hashed;
  self->skip_nulls = skip_nulls;
  self->numbers_only = numbers_only;
  self->kind = AS_LIST;
  return self;
}

static bool is_loaded(const char *module) {
  PyObject *modules = PyImport_GetModuleDict();
  return modules && PyDict_GetItemString(modules, module) != NULL;
}

/* What the objects of some libraries are answered with: the first word of the type's module says whose they are. */
static void find_kind(source *self, PyObject *keys, bool is_arrow) {
  PyObject *module = PyObject_GetAttrString((PyObject *)Py_TYPE(keys), "__module__");
  const char *name = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8AndSize(module, NULL) : NULL;
  if (!name) PyErr_Clear();
  bool polars = name && !strncmp(name, "polars", 6);
  bool of_numpy = name && (!strncmp(name, "pandas", 6) || !strncmp(name, "numpy", 5)) && is_loaded("numpy");
  Py_XDECREF(module);
  self->kind = of_numpy ? AS_NUMPY : !is_arrow ? AS_LIST : polars ? AS_POLARS : AS_ARROW;
}

/* An object that becomes an array of NumPy, such as a pandas Series: the array, or NULL without an exception. */
static PyObject *numpy_array_of(PyObject *keys) {
  if (PyObject_CheckBuffer(keys) || !PyObject_HasAttrString(keys, "__array__") || !is_loaded("numpy")) return NULL;
  PyObject *numpy = PyImport_ImportModule("numpy");
  PyObject *array = numpy ? PyObject_CallMethod(numpy, "asarray", "O", keys) : NULL;
  Py_XDECREF(numpy);
  if (!array) PyErr_Clear();
  return array;
}

static source *source_find(source *self, PyObject *keys) {
  if (!self) return NULL;
  if (PyBytes_Check(keys) || PyUnicode_Check(keys) || PyByteArray_Check(keys)) {
    PyErr_Format(PyExc_TypeError, "keys is one key, %.100R: give many keys, or use the method for one", keys);
    goto failed;
  }
  int found = source_of_arrow(self, keys);
  if (found < 0) goto failed;
  if (!found) {
    PyObject *array = numpy_array_of(keys);
    found = source_of_buffer(self, array ? array : keys);
    Py_XDECREF(array);
    if (found < 0 || (!found && source_of_iterable(self, keys) < 0)) goto failed;
    found = 0;
  }
  find_kind(self, keys, found);
  return self;
failed:
  raise_fault(self);
  source_close(self);
  return NULL;
}

source *source_open(module_state *state, PyObject *keys, bool hashed, bool skip_nulls) {
  return source_find(source_begin(state, hashed, skip_nulls, NULL), keys);
}

source *source_of_numbers(module_state *state, PyObject *numbers, const char *what) {
  return source_find(source_begin(state, false, false, what), numbers);
}

int source_next(source *self) {
  self->repeats = false;
  int got = self->next(self);
  if (got < 0) raise_fault(self);
  if (got <= 0) return got;
  if (self->piece.form == PETAL_KEYS_BYTES || self->piece.form == PETAL_KEYS_BYTES32) {
    if (self->hashed || self->numbers_only) {
      PyErr_Format(PyExc_TypeError, "%s are whole numbers from 0 to 2**64 - 1, not bytes or text",
                   self->numbers_only ? self->numbers_only : "hashes");
      return -1;
    }
  }
  return 1;
}

const petal_keys *source_piece(const source *self) { return &self->piece; }

void source_reads(source *self) { self->reads = true; }

bool source_repeats(const source *self) { return self->repeats; }

size_t source_expected(const source *self) { return self->expected; }

enum answers_kind source_answers_kind(const source *self) { return self->kind; }

const uint8_t *source_valid(const source *self, size_t *rows) {
  *rows = self->rows;
  return self->valid;
}

void source_close(source *self) {
  if (!self) return;
  Py_XDECREF(self->iterator);
  Py_XDECREF(self->pending);
  if (self->has_view) PyBuffer_Release(&self->view);
  if (self->array.release) self->array.release(&self->array);
  if (self->schema.release) self->schema.release(&self->schema);
  if (self->stream.release) self->stream.release(&self->stream);
  free(self->chunk_numbers);
  free(self->chunk_offsets);
  free(self->chunk_bytes);
  free(self->valid);
  free(self);
}

petal_keys keys_slice(const petal_keys *keys, size_t from, size_t count) {
  petal_keys slice = *keys;
  slice.count = count;
  if (keys->form == PETAL_KEYS_BYTES) {
    slice.offsets = (const uint64_t *)keys->offsets + from;
  } else if (keys->form == PETAL_KEYS_BYTES32) {
    slice.offsets = (const int32_t *)keys->offsets + from;
  } else {
    slice.data = (const uint64_t *)keys->data + from;
  }
  return slice;
}

source *source_of_arguments(module_state *state, PyObject *args, PyObject *kwargs, bool *shared) {
  static char *words[] = {"keys", "nulls", "hashed", "shared", NULL};
  static char *words_alone[] = {"keys", "nulls", "hashed", NULL};
  PyObject *keys;
  const char *nulls = "error";
  int hashed = 0, is_shared = 0;
  int parsed = shared ? PyArg_ParseTupleAndKeywords(args, kwargs, "O|$spp", words, &keys, &nulls, &hashed, &is_shared)
                      : PyArg_ParseTupleAndKeywords(args, kwargs, "O|$sp", words_alone, &keys, &nulls, &hashed);
  if (!parsed) return NULL;
  if (strcmp(nulls, "error") && strcmp(nulls, "skip")) {
    PyErr_Format(PyExc_ValueError, "nulls = \"%s\" is neither \"error\" nor \"skip\"", nulls);
    return NULL;
  }
  if (shared) *shared = is_shared;
  return source_open(state, keys, hashed, !strcmp(nulls, "skip"));
}
