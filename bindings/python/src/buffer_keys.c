/*
 * Keys in a buffer of one dimension, such as an array of NumPy: whole numbers of any width, and byte strings or texts
 * of one length. Contiguous 64-bit numbers stay where they lie; others are gathered in chunks.
 */

#include "source.h"

#include <stdlib.h>

/* The item of a format of PEP 3118 in this machine's byte order, or -1. */
static int item_of(const Py_buffer *view) {
  const char *format = view->format ? view->format : "B";
  const uint16_t one = 1;
  bool little = *(const uint8_t *)&one == 1;
  if (*format == '@' || *format == '=' || *format == (little ? '<' : '>')) {
    format++;
  } else if (*format == (little ? '>' : '<') && strchr("HhIiLlQqNn", format[1])) {
    return -1;
  }
  if (format[0] && !format[1]) {
    bool is_signed = strchr("bhilqn", format[0]) != NULL;
    if (is_signed || strchr("BHILQN", format[0])) {
      switch (view->itemsize) {
      case 1:
        return is_signed ? ITEM_I8 : ITEM_U8;
      case 2:
        return is_signed ? ITEM_I16 : ITEM_U16;
      case 4:
        return is_signed ? ITEM_I32 : ITEM_U32;
      case 8:
        return is_signed ? ITEM_I64 : ITEM_U64;
      default:
        return -1;
      }
    }
  }
  char *end;
  unsigned long repeated = strtoul(format, &end, 10);
  if (end == format) repeated = 1;
  if (end[0] && !end[1]) {
    if (*end == 's' && repeated == (unsigned long)view->itemsize) return ITEM_NUMPY_BYTES;
    if (*end == 'x' && repeated == (unsigned long)view->itemsize) return ITEM_FIXED;
    if (*end == 'w' && repeated * 4 == (unsigned long)view->itemsize) return ITEM_UCS4;
  }
  return -1;
}

/* Puts a text of NumPy, UCS-4 with zeros behind it, into the chunk as UTF-8. */
static int add_text(source *self, const char *place, size_t letters) {
  uint32_t letter;
  for (; letters > 0; letters--) {
    memcpy(&letter, place + 4 * (letters - 1), 4);
    if (letter) break;
  }
  char *utf8 = malloc(4 * letters + 1);
  if (!utf8) return no_memory(self);
  char *end = utf8;
  for (size_t i = 0; i < letters; i++) {
    memcpy(&letter, place + 4 * i, 4);
    if (letter > 0x10ffff || (letter >= 0xd800 && letter < 0xe000)) {
      free(utf8);
      return refuse_code_point(self, self->at, letter);
    }
    if (letter < 0x80) {
      *end++ = (char)letter;
    } else if (letter < 0x800) {
      *end++ = (char)(0xc0 | letter >> 6);
      *end++ = (char)(0x80 | (letter & 0x3f));
    } else if (letter < 0x10000) {
      *end++ = (char)(0xe0 | letter >> 12);
      *end++ = (char)(0x80 | (letter >> 6 & 0x3f));
      *end++ = (char)(0x80 | (letter & 0x3f));
    } else {
      *end++ = (char)(0xf0 | letter >> 18);
      *end++ = (char)(0x80 | (letter >> 12 & 0x3f));
      *end++ = (char)(0x80 | (letter >> 6 & 0x3f));
      *end++ = (char)(0x80 | (letter & 0x3f));
    }
  }
  int added = chunk_add_bytes(self, utf8, (size_t)(end - utf8));
  free(utf8);
  return added;
}

static int gather(source *self) {
  size_t width = (size_t)self->view.itemsize;
  Py_ssize_t stride = self->view.strides ? self->view.strides[0] : self->view.itemsize;
  bool numbers = self->item <= ITEM_I64;
  if (chunk_begin(self, numbers) < 0) return -1;
  for (; self->at < self->length && !chunk_is_full(self); self->at++) {
    const char *place = (const char *)self->view.buf + (Py_ssize_t)self->at * stride;
    if (numbers) {
      uint64_t number;
      int64_t negative;
      if (!item_number(self->item, place, &number, &negative)) return refuse_negative(self, self->at, negative);
      chunk_add_number(self, number);
    } else if (self->item == ITEM_UCS4) {
      if (add_text(self, place, width / 4) < 0) return -1;
    } else {
      size_t length = width;
      /* NumPy takes zeros at the end of such a string for padding, and so do we. */
      while (self->item == ITEM_NUMPY_BYTES && length > 0 && place[length - 1] == 0) length--;
      if (chunk_add_bytes(self, place, length) < 0) return -1;
    }
  }
  chunk_end(self);
  return 1;
}

static int next_piece(source *self) {
  if (self->at == self->length) return 0;
  bool wide = self->item == ITEM_U64 || self->item == ITEM_I64;
  bool close = !self->view.strides || self->view.strides[0] == self->view.itemsize || self->length == 1;
  if (!wide || !close || (uintptr_t)self->view.buf % sizeof(uint64_t)) {
    if (self->length - self->at < ROWS_WORTH_RELEASING) return gather(self);
    int gathered;
    Py_BEGIN_ALLOW_THREADS
    gathered = gather(self);
    Py_END_ALLOW_THREADS
    return gathered;
  }
  const uint64_t *numbers = (const uint64_t *)self->view.buf + self->at;
  size_t count = self->length - self->at < PIECE_KEYS ? self->length - self->at : PIECE_KEYS;
  if (self->item == ITEM_I64) {
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++) all |= numbers[i];
    if (all >> 63) {
      for (size_t i = 0; i < count; i++) {
        if (numbers[i] >> 63) return refuse_negative(self, self->at + i, (int64_t)numbers[i]);
      }
    }
  }
  self->at += count;
  piece_of_numbers(self, numbers, count);
  return 1;
}

int source_of_buffer(source *self, PyObject *keys) {
  if (!PyObject_CheckBuffer(keys)) return 0;
  if (PyObject_GetBuffer(keys, &self->view, PyBUF_FULL_RO) < 0) {
    /* NumPy has types, such as dates, for which buffers have no format: they are iterables still. */
    PyErr_Clear();
    return 0;
  }
  const char *format = self->view.format ? self->view.format : "B";
  if (!strcmp(format, "O") || !strcmp(format, "@O")) {
    PyBuffer_Release(&self->view);
    return 0;
  }
  self->has_view = true;
  if (self->view.ndim != 1) {
    PyErr_Format(PyExc_ValueError, "the array of keys has %d dimensions, and must have 1", self->view.ndim);
    return -1;
  }
  self->item = item_of(&self->view);
  if (self->item < 0 || (self->item <= ITEM_I8 && !self->numbers_only)) {
    PyErr_Format(PyExc_TypeError,
                 "keys of the format %s are no keys: whole numbers of 16 to 64 bits in this machine's byte order, byte "
                 "strings (S, V) and texts (U) are",
                 format);
    return -1;
  }
  if (self->view.suboffsets && self->view.suboffsets[0] >= 0) {
    PyErr_SetString(PyExc_ValueError, "the array of keys is one of pointers: copy it");
    return -1;
  }
  self->length = (size_t)self->view.shape[0];
  self->expected = self->length;
  self->next = next_piece;
  return 1;
}
