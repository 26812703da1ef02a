/*
 * What the files of the extension share. Every object lives under the GIL: its fields are read and written only by a
 * thread that holds the GIL. While a thread has released the GIL to work on a handle, `uses` says so (handle.c).
 */

#ifndef PETAL_BINDING_H
#define PETAL_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <petal.h>
#include <petal_formats.h>
#include <petal_map.h>
#include <petal_more.h>
#include <petal_sketch.h>
#include <petal_wire.h>

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The classes of exceptions, the base first; errors.c has their names. */
enum error_class {
  ERROR_BASE,
  ERROR_PARAMETER,
  ERROR_INCOMPATIBLE,
  ERROR_UNSUPPORTED,
  ERROR_SECRET,
  ERROR_IMAGE,
  ERROR_FULL,
  ERROR_FILE,
  ERROR_FILE_MISSING,
  ERROR_FILE_DENIED,
  ERROR_MEMORY,
  ERROR_CANCELLED,
  ERROR_CLOSED,
  ERROR_BUSY,
  ERROR_INTERNAL,
  ERROR_CLASSES,
};

/* The records that functions return, as named tuples; records.c has their fields. */
enum record_type {
  RECORD_INFO,
  RECORD_STATISTICS,
  RECORD_ESTIMATE,
  RECORD_OVERLAP,
  RECORD_KIND,
  RECORD_PARAMETER,
  RECORD_PROPOSAL,
  RECORD_FORMAT,
  RECORD_DIFFERENCE,
  RECORD_TYPES,
};

/* What the module has, one for each interpreter that imports it. */
typedef struct module_state {
  PyObject *errors[ERROR_CLASSES];
  PyTypeObject *records[RECORD_TYPES];
  PyTypeObject *filter;
  PyTypeObject *builder;
  PyTypeObject *map;
  PyTypeObject *map_builder;
  PyTypeObject *sketch;
  PyTypeObject *array;
} module_state;

/*
 * ERRORS
 */

/* Adds the classes of exceptions to a module. Returns -1 with an exception on failure. */
int errors_init(PyObject *module, module_state *state);

/* Raises the exception of a status. `error` and `path` are nullable. Returns NULL. */
PyObject *raise_status(module_state *state, petal_status status, const petal_error *error, PyObject *path);

/* Raises an exception of one of the module's own classes. Returns NULL. */
PyObject *raise_own(module_state *state, enum error_class which, const char *status, const char *message);

/*
 * HANDLES
 */

/* The functions of images that handles of all types have; image.c has one for each type. */
typedef struct image_calls {
  void (*free)(void *);
  petal_status (*make)(const petal_spec *, void **, petal_error *);
  petal_status (*open)(const char *, const petal_open_options *, void **, petal_error *);
  petal_status (*load)(const void *, size_t, const petal_open_options *, void **, petal_error *);
  petal_status (*copy)(const void *, void **, petal_error *);
  petal_status (*serialized_size)(const void *, uint64_t *, petal_error *);
  petal_status (*serialize)(const void *, void *, size_t, size_t *, petal_error *);
  petal_status (*save)(const void *, const char *, petal_error *);
  petal_status (*verify)(void *, petal_error *);
  petal_status (*describe)(const void *, petal_description *, petal_error *);
  petal_status (*sync)(void *, petal_error *);
  petal_status (*mark_clean)(void *, petal_error *);
  uint64_t (*capabilities)(const void *);
} image_calls;

extern const image_calls filter_calls, map_calls, sketch_calls;

/* A Python object that owns a handle of the library. */
typedef struct handle {
  PyObject_HEAD
  /* NULL once it is closed. */
  void *raw;
  module_state *state;
  /* NULL for builders. */
  const image_calls *calls;
  /* What frees `raw`. */
  void (*free)(void *);
  /* How many threads use `raw` without the GIL to read it; -1 if one changes it. */
  int uses;
  /* Whether the handle was opened to be shared, so that insertions go through the functions for that. */
  bool shares;
  /* Held while `uses` is not 0. */
  PyThread_type_lock lock;
  /* The thread that changes it, and the process of that thread. */
  unsigned long owner;
  long process;
  /* A builder's callback, or NULL, and what it needs, from malloc(). */
  PyObject *progress;
  void *context;
} handle;

/* Makes an object of a type around a handle, which it owns from then on, even if it fails. */
PyObject *handle_new(module_state *state, PyTypeObject *type, const image_calls *calls, void (*free)(void *),
                     void *raw);
void handle_dealloc(PyObject *self);
/* Frees the handle; later uses raise ClosedError. */
PyObject *handle_close(PyObject *self, PyObject *unused);
PyObject *handle_enter(PyObject *self, PyObject *unused);
PyObject *handle_exit(PyObject *self, PyObject *args);

/* Waits until this thread may read, or change, the handle without the GIL. -1 with an exception; else handle_end(). */
int handle_read(handle *self);
int handle_change(handle *self);
void handle_end(handle *self);
/* The same for a handle that is changed and another one that is read. */
int handle_change_and_read(handle *self, handle *other);
/* The same for two handles that are read, which may be one. */
int handle_read_both(handle *one, handle *other);

void *handle_wait_to_read(handle *self);
void *handle_wait_to_change(handle *self);

/* The handle for a short call that keeps the GIL; NULL with an exception. */
static inline void *handle_to_read(handle *self) {
  return self->raw && self->uses >= 0 ? self->raw : handle_wait_to_read(self);
}

static inline void *handle_to_change(handle *self) {
  return self->raw && self->uses == 0 ? self->raw : handle_wait_to_change(self);
}

/* Whether an object is a handle of this type; raises TypeError if it is not. */
int is_handle(PyObject *object, PyTypeObject *type, const char *name);

/*
 * IMAGES
 */

/* Makes an empty one, of this kind where none is given; 0 is the default. `what` is the call that messages name. */
PyObject *image_make(PyTypeObject *type, PyObject *args, PyObject *kwargs, const image_calls *calls, petal_kind kind,
                     const char *what);
PyObject *image_open(PyTypeObject *type, PyObject *args, PyObject *kwargs, const image_calls *calls);
PyObject *image_from_bytes(PyTypeObject *type, PyObject *args, PyObject *kwargs, const image_calls *calls);
PyObject *image_bytes(PyObject *self, PyObject *unused);
PyObject *image_save(PyObject *self, PyObject *path);
PyObject *image_copy(PyObject *self, PyObject *unused);
PyObject *image_deepcopy(PyObject *self, PyObject *memo);
PyObject *image_reduce(PyObject *self, PyObject *protocol);
/* A copy of the first that is changed by the second, and the first itself, changed. Both are of one type. */
typedef petal_status (*change_by)(void *, const void *, petal_error *);
PyObject *image_combined(PyObject *one, PyObject *other, change_by call);
PyObject *image_changed(PyObject *one, PyObject *other, change_by call);
PyObject *image_verify(PyObject *self, PyObject *unused);
PyObject *image_sync(PyObject *self, PyObject *unused);
PyObject *image_mark_clean(PyObject *self, PyObject *unused);
PyObject *image_info(PyObject *self, void *unused);
PyObject *image_capabilities(PyObject *self, void *unused);
PyObject *image_kind(PyObject *self, void *unused);
PyObject *image_repr(PyObject *self);

/* The methods and attributes that image.c and handle.c give each type. */
#define IMAGE_METHODS                                                                                                  \
  {"close", handle_close, METH_NOARGS, close_doc}, {"__enter__", handle_enter, METH_NOARGS, NULL},                     \
    {"__exit__", handle_exit, METH_VARARGS, NULL}, {"to_bytes", image_bytes, METH_NOARGS, to_bytes_doc},               \
    {"__bytes__", image_bytes, METH_NOARGS, to_bytes_doc}, {"save", image_save, METH_O, save_doc},                     \
    {"copy", image_copy, METH_NOARGS, copy_doc}, {"__copy__", image_copy, METH_NOARGS, NULL},                          \
    {"__deepcopy__", image_deepcopy, METH_O, NULL}, {"__reduce_ex__", image_reduce, METH_O, NULL},                     \
    {"verify", image_verify, METH_NOARGS, verify_doc}, {"sync", image_sync, METH_NOARGS, sync_doc},                    \
    {"mark_clean", image_mark_clean, METH_NOARGS, mark_clean_doc}
#define IMAGE_ATTRIBUTES                                                                                               \
  {"info", image_info, NULL, info_doc, NULL}, {"kind", image_kind, NULL, kind_doc, NULL},                              \
    {"capabilities", image_capabilities, NULL, capabilities_doc, NULL}

extern const char close_doc[], to_bytes_doc[], save_doc[], copy_doc[], verify_doc[], sync_doc[], mark_clean_doc[],
  info_doc[], kind_doc[], capabilities_doc[], open_doc[], from_bytes_doc[];

/* A growing buffer, from malloc(), for what the library writes piece by piece. */
typedef struct written {
  uint8_t *bytes;
  size_t length;
  size_t room;
} written;

/* A petal_write_callback whose context is a `written`; it stops if memory runs out. */
bool written_take(void *context, const void *bytes, size_t length);

PyObject *wire_pack(PyObject *self, PyObject *unused);
PyObject *wire_unpack(PyObject *type, PyObject *args, PyObject *kwargs);
PyObject *wire_delta(PyObject *self, PyObject *older);
PyObject *wire_patch(PyObject *self, PyObject *args, PyObject *kwargs);

/* The methods that wire.c gives filters and maps. */
#define WIRE_METHODS                                                                                                   \
  {"pack", wire_pack, METH_NOARGS, pack_doc},                                                                          \
    {"unpack", WITH_KEYWORDS(wire_unpack), METH_VARARGS | METH_KEYWORDS | METH_CLASS, unpack_doc},                     \
    {"delta", wire_delta, METH_O, delta_doc},                                                                          \
    {"patch", WITH_KEYWORDS(wire_patch), METH_VARARGS | METH_KEYWORDS, patch_doc}

extern const char pack_doc[], unpack_doc[], delta_doc[], patch_doc[];

/*
 * ONE KEY
 */

/* A key of a call: bytes, or a number. */
typedef struct one_key {
  const void *data;
  size_t length;
  uint64_t number;
  bool is_number;
  bool has_view;
  Py_buffer view;
} one_key;

int one_key_slow(PyObject *object, one_key *key);

/* Reads a key. -1 with an exception; otherwise one_key_done() ends its use. */
static inline int one_key_of(PyObject *object, one_key *key) {
  key->is_number = key->has_view = false;
  if (PyBytes_CheckExact(object)) {
    char *data;
    Py_ssize_t length;
    PyBytes_AsStringAndSize(object, &data, &length);
    key->data = data;
    key->length = (size_t)length;
    return 0;
  }
  if (PyUnicode_CheckExact(object)) {
    Py_ssize_t length;
    key->data = PyUnicode_AsUTF8AndSize(object, &length);
    key->length = (size_t)length;
    return key->data ? 0 : -1;
  }
  return one_key_slow(object, key);
}

static inline void one_key_done(one_key *key) {
  if (key->has_view) PyBuffer_Release(&key->view);
}

/* An int as a uint64_t: OverflowError, naming `what`, for other numbers. */
int number_of(PyObject *object, const char *what, uint64_t *number);

/*
 * MANY KEYS
 */

typedef struct source source;

/* How callers want the answers, which follows from what keys came as. */
enum answers_kind { AS_LIST, AS_NUMPY, AS_ARROW, AS_POLARS };

/* Keys that come from Python, piece by piece. */
source *source_open(module_state *state, PyObject *keys, bool hashed, bool skip_nulls);
/* Numbers that come beside keys: values, times. `what` names them in errors. */
source *source_of_numbers(module_state *state, PyObject *numbers, const char *what);
/* Gets the next piece: 1, or 0 if there is none, or -1 with an exception. */
int source_next(source *self);
/* The present piece, which lives until the next call. */
const petal_keys *source_piece(const source *self);
/*
 * Allows pieces that are the values of a dictionary, each once, where the call changes nothing. source_repeats() says
 * whether the present piece is one, and source_places() gives the places of the rows' values, up to `room`: how many,
 * 0 at the end, -1 with an exception. Nulls have no place.
 */
void source_reads(source *self);
bool source_repeats(const source *self);
ptrdiff_t source_places(source *self, uint32_t *places, size_t room);
/* How many keys there are, if that is known beforehand; otherwise 0. */
size_t source_expected(const source *self);
enum answers_kind source_answers_kind(const source *self);
/* A bit for each row, 0 for a null, if there was a null so far; otherwise NULL. `rows` counts both. */
const uint8_t *source_valid(const source *self, size_t *rows);
void source_close(source *self);

/* The keys of a piece from `from` on. */
petal_keys keys_slice(const petal_keys *keys, size_t from, size_t count);

/* Parses (keys, *, nulls="error", hashed=False) and opens the source; NULL with an exception. */
source *source_of_arguments(module_state *state, PyObject *args, PyObject *kwargs, bool *shared);

/*
 * ANSWERS
 */

enum { WANT_BOOLS = 1, WANT_COUNTS = 2, WANT_VALUES = 4 };

typedef struct answers {
  module_state *state;
  enum answers_kind kind;
  int wanted;
  /* A byte a key, or a bit a key for Arrow. */
  uint8_t *bools;
  uint64_t *numbers;
  size_t count;
  size_t room;
  /* Where a piece is written that does not begin at a whole byte. */
  uint8_t *shifted;
  size_t shifted_room;
} answers;

void answers_init(answers *self, module_state *state, enum answers_kind kind, int wanted);
/* Makes room for a piece and says where its answers go. */
int answers_room(answers *self, const source *from, size_t count, petal_answers *out);
/* The piece was answered. */
void answers_took(answers *self, size_t count);
/* Adds the answers at these places of others, which are a byte a key. */
int answers_repeat(answers *self, const source *from, const answers *distinct, const uint32_t *places, size_t count);
/* The answers as Python objects, in kind, with false and 0 for nulls. A tuple if both sorts are wanted. */
PyObject *answers_finish(answers *self, const source *from);
void answers_free(answers *self);

/* Arrow arrays of answers. */
int array_init(PyObject *module, module_state *state);
/* An array of bits ('b') or of uint64_t ('L') over memory from malloc(), which it owns from then on. */
PyObject *array_new(module_state *state, char format, void *memory, size_t length);

/*
 * CALLS FOR MANY KEYS
 */

/* A batch function of the library; `values` is one number a key, for those that take such. */
typedef petal_status (*batch_call)(void *raw, const petal_keys *keys, const uint64_t *values, petal_answers *answers,
                                   petal_error *error);

/* Runs a batch call for all keys. `into` and `values` are nullable. Returns -1 with an exception. */
int run_batch(handle *self, source *keys, source *values, bool changes, batch_call call, answers *into);
/* The same, and returns the answers in kind; closes the source. NULL for `wanted` 0 means None. */
PyObject *batch_answers(handle *self, source *keys, bool changes, batch_call call, int wanted);
/* Raises what a call of one key failed with; the batch call without keys has its message. */
PyObject *raise_single(handle *self, petal_status status, batch_call call);

/*
 * SPECS AND RECORDS
 */

/* What keyword arguments say of a builder besides the spec. */
typedef struct builder_arguments {
  uint64_t memory_limit;
  PyObject *directory;
  PyObject *progress;
  size_t threads;
} builder_arguments;

/*
 * Reads a spec from (capacity, rate) and keyword arguments; `builder` is nullable. `spec->kind` is the kind if they
 * name none. -1 with an exception.
 */
int spec_of(module_state *state, PyObject *args, PyObject *kwargs, petal_spec *spec, builder_arguments *builder,
            const char *function);
int secret_of(module_state *state, PyObject *object, uint8_t secret[16]);
const char *hash_name(petal_hash_function hash);
/* Finds the kind with this number. -1 with an exception. */
int kind_of_number(module_state *state, petal_kind kind, petal_kind_info *info);

int records_init(PyObject *module, module_state *state);
/* Makes a record from `count` new references, any of which may be NULL after an exception. */
PyObject *record_new(module_state *state, enum record_type which, PyObject **items, size_t count);
PyObject *info_record(module_state *state, const petal_description *description);
PyObject *statistics_record(module_state *state, const petal_statistics *statistics);
PyObject *estimate_record(module_state *state, const petal_filter_estimate *estimate);
/* The names of capabilities, as a frozenset. */
PyObject *capability_names(uint64_t capabilities);
int capabilities_of(module_state *state, PyObject *names, uint64_t *capabilities);

extern PyType_Spec filter_spec, builder_spec, map_spec, map_builder_spec, sketch_spec, array_spec;
extern PyMethodDef plan_functions[], kind_functions[], format_functions[];

PyObject *filter_export(PyObject *self, PyObject *args, PyObject *kwargs);
extern const char export_doc[];

/* A function with keywords as a PyCFunction. */
#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void)) function

#endif
