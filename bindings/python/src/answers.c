/* The answers for many keys, in kind: an Arrow array for Arrow, an array of NumPy for buffers, otherwise a list. */

#include "binding.h"

#include <stdlib.h>

void answers_init(answers *self, module_state *state, enum answers_kind kind, int wanted) {
  memset(self, 0, sizeof *self);
  self->state = state;
  self->kind = kind;
  self->wanted = wanted;
}

static bool has_bits(const answers *self) { return self->kind == AS_ARROW || self->kind == AS_POLARS; }

static int grow(answers *self, size_t room) {
  if (room >= SIZE_MAX / sizeof(uint64_t)) {
    PyErr_NoMemory();
    return -1;
  }
  if (self->wanted & WANT_BOOLS) {
    uint8_t *bools = realloc(self->bools, has_bits(self) ? room / 8 + 8 : room + 1);
    if (!bools) goto failed;
    self->bools = bools;
  }
  if (self->wanted & (WANT_COUNTS | WANT_VALUES)) {
    uint64_t *numbers = realloc(self->numbers, (room + 1) * sizeof *numbers);
    if (!numbers) goto failed;
    self->numbers = numbers;
  }
  self->room = room;
  return 0;
failed:
  PyErr_NoMemory();
  return -1;
}

/* Makes room for so many more answers. */
static int reserve(answers *self, const source *from, size_t count) {
  size_t needed = self->count + count;
  if (needed <= self->room && self->room) return 0;
  size_t room = self->room + self->room / 2;
  if (room < needed) room = needed;
  if (self->count == 0 && source_expected(from) > room) room = source_expected(from);
  return grow(self, room);
}

int answers_room(answers *self, const source *from, size_t count, petal_answers *out) {
  if (reserve(self, from, count) < 0) return -1;
  if (self->wanted & WANT_BOOLS) {
    if (!has_bits(self)) {
      out->bytes = self->bools + self->count;
    } else if (self->count % 8 == 0) {
      out->bitmap = self->bools + self->count / 8;
    } else {
      if (self->shifted_room < count / 8 + 1) {
        uint8_t *shifted = realloc(self->shifted, count / 8 + 1);
        if (!shifted) {
          PyErr_NoMemory();
          return -1;
        }
        self->shifted = shifted;
        self->shifted_room = count / 8 + 1;
      }
      out->bitmap = self->shifted;
    }
  }
  if (self->wanted & WANT_COUNTS) out->counts = self->numbers + self->count;
  if (self->wanted & WANT_VALUES) out->values = self->numbers + self->count;
  return 0;
}

void answers_took(answers *self, size_t count) {
  unsigned start = self->count % 8;
  if ((self->wanted & WANT_BOOLS) && has_bits(self) && start) {
    /* The bits after the last answer are 0, in the piece and in what is there. */
    uint8_t *to = self->bools + self->count / 8;
    for (size_t i = 0; i < (count + 7) / 8; i++) {
      to[i] |= (uint8_t)(self->shifted[i] << start);
      to[i + 1] = (uint8_t)(self->shifted[i] >> (8 - start));
    }
  }
  self->count += count;
}

int answers_repeat(answers *self, const source *from, const answers *distinct, const uint32_t *places, size_t count) {
  if (reserve(self, from, count) < 0) return -1;
  for (size_t i = 0; i < count; i++, self->count++) {
    if (self->wanted & WANT_BOOLS) {
      uint8_t answer = distinct->bools[places[i]];
      if (!has_bits(self)) {
        self->bools[self->count] = answer;
      } else {
        uint8_t *byte = self->bools + self->count / 8;
        if (self->count % 8 == 0) *byte = 0;
        *byte |= (uint8_t)(answer << self->count % 8);
      }
    }
    if (self->wanted & (WANT_COUNTS | WANT_VALUES)) self->numbers[self->count] = distinct->numbers[places[i]];
  }
  return 0;
}

static bool bit(const uint8_t *bits, size_t i) { return bits[i / 8] >> (i % 8) & 1; }

/* Spreads the answers over all rows, where nulls were left out: false and 0 for these. */
static int spread(answers *self, const uint8_t *valid, size_t rows) {
  answers all = *self;
  all.bools = NULL;
  all.numbers = NULL;
  all.room = 0;
  if (grow(&all, rows) < 0) {
    free(all.bools);
    free(all.numbers);
    return -1;
  }
  if (all.bools) memset(all.bools, 0, has_bits(self) ? rows / 8 + 8 : rows + 1);
  for (size_t row = 0, from = 0; row < rows; row++) {
    bool is_there = bit(valid, row);
    if (all.numbers) all.numbers[row] = is_there ? self->numbers[from] : 0;
    if (all.bools && is_there) {
      if (!has_bits(self)) {
        all.bools[row] = self->bools[from];
      } else if (bit(self->bools, from)) {
        all.bools[row / 8] |= (uint8_t)(1u << (row % 8));
      }
    }
    from += is_there;
  }
  free(self->bools);
  free(self->numbers);
  self->bools = all.bools;
  self->numbers = all.numbers;
  self->count = rows;
  return 0;
}

static PyObject *list_of(const answers *self, bool numbers) {
  PyObject *list = PyList_New((Py_ssize_t)self->count);
  for (size_t i = 0; list && i < self->count; i++) {
    PyObject *item = numbers ? PyLong_FromUnsignedLongLong(self->numbers[i])
                             : Py_NewRef(self->bools[i] ? Py_True : Py_False);
    if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) Py_CLEAR(list);
  }
  return list;
}

static PyObject *numpy_of(const answers *self, bool numbers) {
  const void *memory = numbers ? (const void *)self->numbers : self->bools;
  size_t width = numbers ? sizeof(uint64_t) : 1;
  PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(self->count * width));
  if (!bytes) return NULL;
  if (self->count > 0) memcpy(PyByteArray_AsString(bytes), memory, self->count * width);
  PyObject *numpy = PyImport_ImportModule("numpy");
  PyObject *array = numpy ? PyObject_CallMethod(numpy, "frombuffer", "Os", bytes, numbers ? "uint64" : "bool") : NULL;
  Py_XDECREF(numpy);
  Py_DECREF(bytes);
  return array;
}

/* Gives an array of ours to a function that makes one of its library's of it. */
static PyObject *convert(PyObject *array, const char *module, const char *function) {
  PyObject *modules = PyImport_GetModuleDict();
  PyObject *loaded = modules ? PyDict_GetItemString(modules, module) : NULL;
  if (!array || !loaded) return array;
  PyObject *converted = PyObject_CallMethod(loaded, function, "O", array);
  Py_DECREF(array);
  return converted;
}

static PyObject *arrow_of(answers *self, bool numbers) {
  void *memory = numbers ? (void *)self->numbers : self->bools;
  if (numbers) {
    self->numbers = NULL;
  } else {
    self->bools = NULL;
  }
  PyObject *array = array_new(self->state, numbers ? 'L' : 'b', memory, self->count);
  return self->kind == AS_POLARS ? convert(array, "polars", "Series") : convert(array, "pyarrow", "array");
}

static PyObject *in_kind(answers *self, bool numbers) {
  switch (self->kind) {
  case AS_LIST:
    return list_of(self, numbers);
  case AS_NUMPY:
    return numpy_of(self, numbers);
  default:
    return arrow_of(self, numbers);
  }
}

PyObject *answers_finish(answers *self, const source *from) {
  size_t rows;
  const uint8_t *valid = source_valid(from, &rows);
  if (valid && spread(self, valid, rows) < 0) return NULL;
  if (!self->room && grow(self, 0) < 0) return NULL;
  bool bools = self->wanted & WANT_BOOLS, numbers = self->wanted & (WANT_COUNTS | WANT_VALUES);
  if (!bools || !numbers) return in_kind(self, numbers);
  PyObject *values = in_kind(self, true);
  PyObject *found = values ? in_kind(self, false) : NULL;
  PyObject *both = found ? PyTuple_Pack(2, values, found) : NULL;
  Py_XDECREF(values);
  Py_XDECREF(found);
  return both;
}

void answers_free(answers *self) {
  free(self->bools);
  free(self->numbers);
  free(self->shifted);
}
