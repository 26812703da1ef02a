/*
 * Keys of Arrow arrays and streams, by the PyCapsule interface. Binary and text with offsets of 32 and 64 bits, and
 * 64-bit numbers, stay where they lie. Views, values of a dictionary, values of one length, narrower numbers, and
 * arrays with nulls are gathered in chunks. A stream of tables with one column is a stream of this column.
 */

#include "source.h"

/* The forms of values. */
enum { VALUES_NULL, VALUES_BYTES32, VALUES_BYTES64, VALUES_VIEWS, VALUES_FIXED, VALUES_NUMBERS, VALUES_OTHER };

typedef struct form {
  int values;
  /* ITEM_*, and the bytes of a value, for numbers; the bytes of a value for VALUES_FIXED. */
  int item;
  size_t width;
} form;

static form form_of(const char *format) {
  form found = {VALUES_OTHER, 0, 0};
  if (format[0] == 'w' && format[1] == ':') {
    found.values = VALUES_FIXED;
    for (const char *digit = format + 2; *digit >= '0' && *digit <= '9' && found.width < 1u << 30; digit++) {
      found.width = found.width * 10 + (size_t)(*digit - '0');
    }
  } else if (format[0] == 'v' && (format[1] == 'u' || format[1] == 'z') && !format[2]) {
    found.values = VALUES_VIEWS;
  } else if (format[0] && !format[1]) {
    static const char numbers[] = "CcSsIiLl";
    const char *number = strchr(numbers, format[0]);
    if (number) {
      found.values = VALUES_NUMBERS;
      found.item = (int)(number - numbers);
      found.width = (size_t)1 << found.item / 2;
    } else if (format[0] == 'u' || format[0] == 'z') {
      found.values = VALUES_BYTES32;
    } else if (format[0] == 'U' || format[0] == 'Z') {
      found.values = VALUES_BYTES64;
    } else if (format[0] == 'n') {
      found.values = VALUES_NULL;
    }
  }
  return found;
}

static bool is_set(const void *bitmap, int64_t bit) {
  return !bitmap || (((const uint8_t *)bitmap)[bit / 8] >> (bit % 8) & 1);
}

static bool has_nulls(const struct ArrowArray *array, int64_t first, size_t count) {
  if (array->null_count == 0 || !array->buffers[0]) return false;
  for (size_t i = 0; i < count; i++) {
    if (!is_set(array->buffers[0], first + (int64_t)i)) return true;
  }
  return false;
}

/* Adds the value at `place`, counted from the array's first byte, to the chunk. */
static int gather_value(source *self, const struct ArrowArray *array, form of, int64_t place) {
  switch (of.values) {
  case VALUES_NUMBERS: {
    uint64_t number;
    int64_t negative;
    const char *where = (const char *)array->buffers[1] + (size_t)place * of.width;
    if (!item_number(of.item, where, &number, &negative)) return refuse_negative(self, self->rows, negative);
    chunk_add_number(self, number);
    return 0;
  }
  case VALUES_FIXED:
    return chunk_add_bytes(self, (const char *)array->buffers[1] + (size_t)place * of.width, of.width);
  case VALUES_BYTES32: {
    const int32_t *offsets = (const int32_t *)array->buffers[1] + place;
    if (offsets[0] < 0 || offsets[1] < offsets[0]) return damaged(self, "its offsets decrease");
    return chunk_add_bytes(self, (const char *)array->buffers[2] + offsets[0], (size_t)(offsets[1] - offsets[0]));
  }
  case VALUES_BYTES64: {
    const int64_t *offsets = (const int64_t *)array->buffers[1] + place;
    if (offsets[0] < 0 || offsets[1] < offsets[0]) return damaged(self, "its offsets decrease");
    return chunk_add_bytes(self, (const char *)array->buffers[2] + offsets[0], (size_t)(offsets[1] - offsets[0]));
  }
  default: {
    const char *view = (const char *)array->buffers[1] + 16 * (size_t)place;
    int32_t length, buffer, offset;
    memcpy(&length, view, 4);
    if (length < 0) return damaged(self, "a view has a negative length");
    if (length <= 12) return chunk_add_bytes(self, view + 4, (size_t)length);
    memcpy(&buffer, view + 8, 4);
    memcpy(&offset, view + 12, 4);
    /* The last buffer has the lengths of the buffers of data. */
    int64_t data = array->n_buffers - 3;
    if (buffer < 0 || buffer >= data || offset < 0) return damaged(self, "a view leads outside its buffers");
    const int64_t *sizes = array->buffers[array->n_buffers - 1];
    if ((int64_t)offset + length > sizes[buffer]) return damaged(self, "a view leads outside its buffers");
    return chunk_add_bytes(self, (const char *)array->buffers[2 + buffer] + offset, (size_t)length);
  }
  }
}

/* Gathers the next rows in a chunk, one by one. */
static int gather(source *self) {
  const struct ArrowArray *array = self->values;
  const struct ArrowArray *dictionary = array->dictionary;
  form of = form_of(self->values_schema->format);
  form value = dictionary ? form_of(self->values_schema->dictionary->format) : of;
  if (chunk_begin(self, value.values == VALUES_NUMBERS) < 0) return -1;
  /* Nulls take no room in the chunk, so that rows bound the work too. */
  size_t rows = 0;
  for (; self->at < self->length && !chunk_is_full(self) && rows < 16 * CHUNK_KEYS; self->at++, rows++) {
    int64_t place = self->first + (int64_t)self->at;
    bool is_null = of.values == VALUES_NULL || (array->null_count != 0 && !is_set(array->buffers[0], place));
    const struct ArrowArray *from = array;
    if (dictionary && !is_null) {
      uint64_t index;
      int64_t negative;
      const char *where = (const char *)array->buffers[1] + (size_t)place * of.width;
      if (!item_number(of.item, where, &index, &negative) || index >= (uint64_t)dictionary->length) {
        return damaged(self, "an index leads outside the dictionary");
      }
      place = dictionary->offset + (int64_t)index;
      from = dictionary;
      is_null = value.values == VALUES_NULL || (dictionary->null_count != 0 && !is_set(dictionary->buffers[0], place));
    }
    if (is_null && !self->skip_nulls) return refuse_null(self, self->rows);
    if (!is_null && gather_value(self, from, value, place) < 0) return -1;
    if (source_row(self, is_null) < 0) return -1;
  }
  chunk_end(self);
  return 1;
}

/* Makes values that lie as the library takes them the piece. */
static int piece_of(source *self, const struct ArrowArray *array, form of, int64_t place, size_t count) {
  if (of.values == VALUES_NUMBERS) {
    piece_of_numbers(self, (const uint64_t *)array->buffers[1] + place, count);
  } else if (of.values == VALUES_BYTES32) {
    const int32_t *offsets = (const int32_t *)array->buffers[1] + place;
    if (offsets[count] < 0) return damaged(self, "an offset is negative");
    self->piece = petal_keys_bytes32(array->buffers[2], (size_t)offsets[count], offsets, count);
  } else {
    const uint64_t *offsets = (const uint64_t *)array->buffers[1] + place;
    if (offsets[count] > INT64_MAX) return damaged(self, "an offset is negative");
    self->piece = petal_keys_bytes(array->buffers[2], (size_t)offsets[count], offsets, count);
  }
  return 1;
}

/* The next rows where they lie. */
static int piece_in_place(source *self, form of, size_t count) {
  int64_t place = self->first + (int64_t)self->at;
  if (of.values == VALUES_NUMBERS && of.item == ITEM_I64) {
    const uint64_t *numbers = (const uint64_t *)self->values->buffers[1] + place;
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++) all |= numbers[i];
    for (size_t i = 0; all >> 63 && i < count; i++) {
      if (numbers[i] >> 63) return refuse_negative(self, self->rows + i, (int64_t)numbers[i]);
    }
  }
  if (piece_of(self, self->values, of, place, count) < 0) return -1;
  self->at += count;
  return source_rows(self, count) < 0 ? -1 : 1;
}

static int64_t buffers_of(form of) {
  return of.values == VALUES_NULL ? 0 : of.values == VALUES_NUMBERS || of.values == VALUES_FIXED ? 2 : 3;
}

/* Finds the values of an array that has come. */
static int begin_array(source *self) {
  const struct ArrowArray *array = &self->array;
  self->values = array;
  self->first = array->offset;
  self->length = (size_t)array->length;
  self->at = 0;
  self->has_array = true;
  if (self->is_column) {
    if (array->n_children <= self->column) return damaged(self, "it lacks its column");
    if (array->null_count != 0 && has_nulls(array, array->offset, self->length)) {
      PyErr_SetString(PyExc_ValueError, "a row of the keys' table is a null: give the column");
      return -1;
    }
    self->values = array->children[self->column];
    self->first += self->values->offset;
    if (self->values->length < array->offset + array->length) return damaged(self, "its column is too short");
  }
  form of = form_of(self->values_schema->format);
  if (array->length < 0 || self->first < 0 || self->values->n_buffers < buffers_of(of)) {
    return damaged(self, "its length, its offset or its number of buffers is wrong");
  }
  if (!self->values_schema->dictionary) return 0;
  const struct ArrowArray *dictionary = self->values->dictionary;
  if (!dictionary || dictionary->length < 0 || dictionary->offset < 0 ||
      dictionary->n_buffers < buffers_of(form_of(self->values_schema->dictionary->format))) {
    return damaged(self, "it lacks its dictionary");
  }
  return 0;
}

/* Gets the next array of the stream: 1, or 0 if there is none, or -1 with an exception. */
static int next_array(source *self) {
  if (self->array.release) {
    self->array.release(&self->array);
    self->array.release = NULL;
  }
  self->has_array = false;
  if (!self->stream.release) return 0;
  int failed;
  Py_BEGIN_ALLOW_THREADS
  failed = self->stream.get_next(&self->stream, &self->array);
  Py_END_ALLOW_THREADS
  if (PyErr_Occurred()) return -1;
  if (failed) {
    self->array.release = NULL;
    const char *why = self->stream.get_last_error(&self->stream);
    PyErr_Format(PyExc_RuntimeError, "the stream of Arrow arrays failed: %s", why ? why : "it does not say why");
    return -1;
  }
  return self->array.release ? begin_array(self) < 0 ? -1 : 1 : 0;
}

/* Whether the array is answered by asking for each value of its dictionary once. */
static bool repeats(const source *self) {
  const struct ArrowArray *dictionary = self->values->dictionary;
  if (!self->reads || !dictionary || self->at > 0) return false;
  form of = form_of(self->values_schema->dictionary->format);
  bool in_place = of.values == VALUES_BYTES32 || of.values == VALUES_BYTES64 ||
                  (of.values == VALUES_NUMBERS && of.item == ITEM_U64);
  size_t count = (size_t)dictionary->length;
  return in_place && count > 0 && count <= PIECE_KEYS && count <= self->length / 2 &&
         !has_nulls(dictionary, dictionary->offset, count);
}

/* Makes the values of the dictionary the piece. */
static int piece_of_dictionary(source *self) {
  const struct ArrowArray *dictionary = self->values->dictionary;
  form of = form_of(self->values_schema->dictionary->format);
  size_t count = (size_t)dictionary->length;
  if (piece_of(self, dictionary, of, dictionary->offset, count) < 0) return -1;
  self->repeats = true;
  self->referring = 0;
  self->at = self->length;
  return 1;
}

/* The place of the value of the next rows: how many, or -1. Stops at the end and where there is no more room. */
static ptrdiff_t find_places(source *self, uint32_t *places, size_t room) {
  const struct ArrowArray *array = self->values;
  form of = form_of(self->values_schema->format);
  size_t count = 0;
  for (; self->referring < self->length && count < room; self->referring++) {
    int64_t row = self->first + (int64_t)self->referring;
    bool is_null = array->null_count != 0 && !is_set(array->buffers[0], row);
    if (is_null && !self->skip_nulls) return refuse_null(self, self->rows);
    if (!is_null) {
      uint64_t index;
      int64_t negative;
      const char *where = (const char *)array->buffers[1] + (size_t)row * of.width;
      if (!item_number(of.item, where, &index, &negative) || index >= (uint64_t)array->dictionary->length) {
        return damaged(self, "an index leads outside the dictionary");
      }
      places[count++] = (uint32_t)index;
    }
    if (source_row(self, is_null) < 0) return -1;
  }
  return (ptrdiff_t)count;
}

ptrdiff_t source_places(source *self, uint32_t *places, size_t room) {
  ptrdiff_t found;
  do {
    found = find_places(self, places, room);
  } while (found == 0 && self->referring < self->length);
  if (found < 0) raise_fault(self);
  return found;
}

static int next_piece(source *self) {
  while (!self->has_array || self->at == self->length) {
    int got = next_array(self);
    if (got <= 0) return got;
  }
  if (repeats(self)) return piece_of_dictionary(self);
  form of = form_of(self->values_schema->format);
  bool in_place = of.values == VALUES_BYTES32 || of.values == VALUES_BYTES64 ||
                  (of.values == VALUES_NUMBERS && of.item >= ITEM_U64);
  size_t left = self->length - self->at;
  size_t count = left < PIECE_KEYS ? left : PIECE_KEYS;
  if (!in_place || self->values_schema->dictionary || has_nulls(self->values, self->first + (int64_t)self->at, count)) {
    if (left < ROWS_WORTH_RELEASING) return gather(self);
    int gathered;
    Py_BEGIN_ALLOW_THREADS
    gathered = gather(self);
    Py_END_ALLOW_THREADS
    return gathered;
  }
  return piece_in_place(self, of, count);
}

/* Refuses values that are no keys. */
static int check_schema(source *self) {
  const struct ArrowSchema *schema = &self->schema;
  if (!strcmp(schema->format, "+s")) {
    int64_t columns = 0;
    for (int64_t i = 0; i < schema->n_children; i++) {
      const char *name = schema->children[i]->name;
      /* What pandas makes of an index. */
      if (name && !strncmp(name, "__index_level_", 14)) continue;
      self->column = i;
      columns++;
    }
    if (columns != 1) {
      PyErr_Format(PyExc_TypeError, "the keys' table has %lld columns: give one", (long long)columns);
      return -1;
    }
    self->is_column = true;
    schema = schema->children[self->column];
  }
  self->values_schema = schema;
  const char *format = schema->dictionary ? schema->dictionary->format : schema->format;
  bool nested = schema->dictionary &&
                (schema->dictionary->dictionary || form_of(schema->format).values != VALUES_NUMBERS);
  if (form_of(format).values == VALUES_OTHER || nested) {
    PyErr_Format(PyExc_TypeError,
                 "keys of Arrow's format %s are no keys: binary, text and whole numbers are, and dictionaries of them",
                 format);
    return -1;
  }
  return 0;
}

/* Calls a method that gives capsules. NULL with an exception, or without one if there is no such method. */
static PyObject *capsules_of(PyObject *keys, const char *method) {
  PyObject *bound = PyObject_GetAttrString(keys, method);
  if (!bound) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    return NULL;
  }
  PyObject *capsules = PyObject_CallNoArgs(bound);
  Py_DECREF(bound);
  return capsules;
}

static int take_stream(source *self, PyObject *capsule) {
  struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
  if (!stream) return -1;
  self->stream = *stream;
  stream->release = NULL;
  if (!self->stream.release) return damaged(self, "its stream was released");
  int failed;
  Py_BEGIN_ALLOW_THREADS
  failed = self->stream.get_schema(&self->stream, &self->schema);
  Py_END_ALLOW_THREADS
  if (PyErr_Occurred()) return -1;
  if (failed) {
    self->schema.release = NULL;
    const char *why = self->stream.get_last_error(&self->stream);
    PyErr_Format(PyExc_RuntimeError, "the stream of Arrow arrays failed: %s", why ? why : "it does not say why");
    return -1;
  }
  return check_schema(self);
}

static int take_array(source *self, PyObject *pair) {
  PyObject *schema_capsule, *array_capsule;
  if (!PyTuple_Check(pair)) {
    PyErr_SetString(PyExc_TypeError, "__arrow_c_array__() returned no tuple");
    return -1;
  }
  if (!PyArg_ParseTuple(pair, "OO", &schema_capsule, &array_capsule)) return -1;
  struct ArrowSchema *schema = PyCapsule_GetPointer(schema_capsule, "arrow_schema");
  struct ArrowArray *array = schema ? PyCapsule_GetPointer(array_capsule, "arrow_array") : NULL;
  if (!array) return -1;
  self->schema = *schema;
  schema->release = NULL;
  self->array = *array;
  array->release = NULL;
  if (!self->schema.release || !self->array.release) return damaged(self, "it was released");
  if (check_schema(self) < 0 || begin_array(self) < 0) return -1;
  self->expected = self->length;
  return 0;
}

int source_of_arrow(source *self, PyObject *keys) {
  /* Lists and tuples are asked most often, and have no such methods. */
  if (PyList_CheckExact(keys) || PyTuple_CheckExact(keys)) return 0;
  self->next = next_piece;
  PyObject *given = capsules_of(keys, "__arrow_c_array__");
  int took = given ? take_array(self, given) : 0;
  if (!given && !PyErr_Occurred()) {
    given = capsules_of(keys, "__arrow_c_stream__");
    took = given ? take_stream(self, given) : 0;
  }
  Py_XDECREF(given);
  if (took < 0 || PyErr_Occurred()) return -1;
  return given ? 1 : 0;
}
