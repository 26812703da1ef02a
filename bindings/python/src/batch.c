/* Calls of the library for many keys: piece by piece, without the GIL where a piece is worth that. */

#include "binding.h"

/* Below this number of keys a piece takes less time than handing the GIL over would. */
#define KEYS_WORTH_RELEASING 256

/* Runs the call for a part of a piece. */
static int run(handle *self, const petal_keys *keys, const uint64_t *values, bool changes, batch_call call,
               petal_answers *answers) {
  if ((changes ? handle_change(self) : handle_read(self)) < 0) return -1;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status;
  if (keys->count < KEYS_WORTH_RELEASING) {
    status = call(self->raw, keys, values, answers, &error);
  } else {
    Py_BEGIN_ALLOW_THREADS
    status = call(self->raw, keys, values, answers, &error);
    Py_END_ALLOW_THREADS
  }
  handle_end(self);
  if (status != PETAL_OK) {
    raise_status(self->state, status, &error, NULL);
    return -1;
  }
  return PyErr_CheckSignals();
}

static int refuse_lengths(void) {
  PyErr_SetString(PyExc_ValueError, "there are not as many numbers as keys");
  return -1;
}

/* Answers the values of a dictionary once, and then each row by the place of its value. */
static int run_repeated(handle *self, source *keys, batch_call call, answers *into) {
  enum { ROWS = 1024 };
  uint32_t places[ROWS];
  answers distinct;
  answers_init(&distinct, self->state, AS_LIST, into->wanted);
  const petal_keys *piece = source_piece(keys);
  petal_answers out = PETAL_ANSWERS_INIT;
  ptrdiff_t got = answers_room(&distinct, keys, piece->count, &out) < 0 ||
                      run(self, piece, NULL, false, call, &out) < 0
                    ? -1
                    : 1;
  while (got > 0) {
    got = source_places(keys, places, ROWS);
    if (got > 0 && answers_repeat(into, keys, &distinct, places, (size_t)got) < 0) got = -1;
  }
  answers_free(&distinct);
  return (int)got;
}

int run_batch(handle *self, source *keys, source *values, bool changes, batch_call call, answers *into) {
  size_t used = 0, there = 0;
  int got;
  bool any = false;
  while ((got = source_next(keys)) > 0 || !any) {
    if (got < 0) return -1;
    /* Without keys the library still says whether the handle can do that. */
    petal_keys none = petal_keys_u64(NULL, 0);
    const petal_keys *piece = got > 0 ? source_piece(keys) : &none;
    any = true;
    if (got > 0 && source_repeats(keys)) {
      if (run_repeated(self, keys, call, into) < 0) return -1;
      continue;
    }
    size_t from = 0;
    do {
      petal_keys part = *piece;
      const uint64_t *numbers = NULL;
      if (values && piece->count > 0) {
        while (used == there) {
          int more = source_next(values);
          if (more <= 0) return more < 0 ? -1 : refuse_lengths();
          used = 0;
          there = source_piece(values)->count;
        }
        size_t count = piece->count - from < there - used ? piece->count - from : there - used;
        part = keys_slice(piece, from, count);
        numbers = (const uint64_t *)source_piece(values)->data + used;
        used += count;
      }
      petal_answers out = PETAL_ANSWERS_INIT;
      if (into && answers_room(into, keys, part.count, &out) < 0) return -1;
      if (run(self, &part, numbers, changes, call, into ? &out : NULL) < 0) return -1;
      if (into) answers_took(into, part.count);
      from += part.count;
    } while (from < piece->count);
    if (got == 0) break;
  }
  if (got < 0) return -1;
  if (values && (used < there || (got = source_next(values)) != 0)) return got < 0 ? -1 : refuse_lengths();
  return 0;
}

PyObject *batch_answers(handle *self, source *keys, bool changes, batch_call call, int wanted) {
  PyObject *result = NULL;
  answers into;
  answers_init(&into, self->state, source_answers_kind(keys), wanted);
  if (!changes && wanted) source_reads(keys);
  if (run_batch(self, keys, NULL, changes, call, wanted ? &into : NULL) == 0) {
    result = wanted ? answers_finish(&into, keys) : Py_NewRef(Py_None);
  }
  answers_free(&into);
  source_close(keys);
  return result;
}

PyObject *raise_single(handle *self, petal_status status, batch_call call) {
  petal_error error = PETAL_ERROR_INIT;
  petal_keys none = petal_keys_bytes(NULL, 0, NULL, 0);
  petal_answers answers = PETAL_ANSWERS_INIT;
  if (self->raw && self->uses == 0) call(self->raw, &none, NULL, &answers, &error);
  return raise_status(self->state, status, &error, NULL);
}
