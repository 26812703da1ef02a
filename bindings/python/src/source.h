/* Inside a source of keys: where they come from, and the chunk in which keys are gathered that do not lie as the
 * library takes them. */

#ifndef PETAL_SOURCE_H
#define PETAL_SOURCE_H

#include "arrow.h"
#include "binding.h"

/* Keys of a piece that lies where it came from. Between pieces signals are handled and other threads have a chance. */
#define PIECE_KEYS ((size_t)1 << 20)
/* Keys and bytes after which a gathered chunk is full. */
#define CHUNK_KEYS ((size_t)4096)
#define CHUNK_BYTES ((size_t)1 << 20)
/* Below this number of rows gathering takes less time than handing the GIL over would. */
#define ROWS_WORTH_RELEASING 256

enum fault_kind { FAULT_NONE, FAULT_NULL, FAULT_NEGATIVE, FAULT_CODE_POINT, FAULT_DAMAGED, FAULT_MEMORY };

struct source {
  module_state *state;
  /* What was noted, in which row, and the number or the sentence that belongs to it. */
  enum fault_kind fault;
  size_t fault_row;
  int64_t fault_number;
  const char *fault_text;
  petal_keys piece;
  enum answers_kind kind;
  /* Numbers are hashes. */
  bool hashed;
  bool skip_nulls;
  /* Beside keys, only numbers come: what they are, or NULL. */
  const char *numbers_only;
  size_t expected;
  /* Gets the next piece, as source_next(). */
  int (*next)(source *self);

  /* The chunk: keys of one form. */
  bool chunk_is_numbers;
  size_t chunk_count;
  uint64_t *chunk_numbers;
  uint64_t *chunk_offsets;
  uint8_t *chunk_bytes;
  size_t chunk_used;
  size_t chunk_room;

  /* A bit for each row so far, from the first null on. */
  size_t rows;
  uint8_t *valid;
  size_t valid_room;

  /* An iterable. */
  PyObject *iterator;
  /* The key that did not go into the last chunk. */
  PyObject *pending;

  /* A buffer: item i is `itemsize` bytes at i * stride. */
  Py_buffer view;
  bool has_view;
  int item;

  /* Arrow: the present array, and the values in it, which may be those of its only column. */
  struct ArrowArrayStream stream;
  struct ArrowSchema schema;
  struct ArrowArray array;
  bool is_column;
  int64_t column;
  const struct ArrowSchema *values_schema;
  const struct ArrowArray *values;
  int64_t first;
  bool has_array;
  /* Whether a piece may be a dictionary, whether the present one is, and the next row that refers to it. */
  bool reads;
  bool repeats;
  size_t referring;

  /* The next row of the buffer or the array, and how many there are. */
  size_t at;
  size_t length;
};

int source_of_iterable(source *self, PyObject *keys);
int source_of_buffer(source *self, PyObject *keys);
/* 1 if the keys are Arrow's, 0 if not, -1 with an exception. */
int source_of_arrow(source *self, PyObject *keys);

/* Begins a chunk of bytes or numbers. */
int chunk_begin(source *self, bool numbers);
int chunk_grow(source *self, size_t length);
static inline int chunk_add_bytes(source *self, const void *data, size_t length) {
  if (length > self->chunk_room - self->chunk_used && chunk_grow(self, length) < 0) return -1;
  if (length > 0) memcpy(self->chunk_bytes + self->chunk_used, data, length);
  self->chunk_used += length;
  self->chunk_offsets[++self->chunk_count] = self->chunk_used;
  return 0;
}
static inline void chunk_add_number(source *self, uint64_t number) {
  self->chunk_numbers[self->chunk_count++] = number;
}
static inline bool chunk_is_full(const source *self) {
  return self->chunk_count == CHUNK_KEYS || self->chunk_used >= CHUNK_BYTES;
}
/* Makes the chunk the piece. */
void chunk_end(source *self);
/* Notes whether the next row is a null. */
int source_null_row(source *self, bool is_null);
static inline int source_row(source *self, bool is_null) {
  if (self->valid || is_null) return source_null_row(self, is_null);
  self->rows++;
  return 0;
}
/* Notes that the next rows are no nulls. */
int source_rows(source *self, size_t count);
/* Makes a piece of numbers, or of hashes, which lie elsewhere. */
void piece_of_numbers(source *self, const uint64_t *numbers, size_t count);
/*
 * Notes what is wrong with keys, and returns -1. Gathering runs without the GIL, so source_next() raises the exception.
 */
int refuse_null(source *self, size_t row);
int refuse_negative(source *self, size_t row, int64_t number);
int refuse_code_point(source *self, size_t row, uint32_t letter);
int damaged(source *self, const char *what);
int no_memory(source *self);
void raise_fault(const source *self);

/* Whole numbers of any width, which become uint64_t. */
enum {
  ITEM_U8,
  ITEM_I8,
  ITEM_U16,
  ITEM_I16,
  ITEM_U32,
  ITEM_I32,
  ITEM_U64,
  ITEM_I64,
  /* Not numbers: bytes of one length, the same with zeros for padding, and UCS-4. */
  ITEM_FIXED,
  ITEM_NUMPY_BYTES,
  ITEM_UCS4,
};
/* Reads the number at `place` if it is not negative: true. */
bool item_number(int item, const void *place, uint64_t *number, int64_t *negative);

#endif
