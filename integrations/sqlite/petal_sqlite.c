/*
 * petal_sqlite.c: filters and maps as functions of SQL. A filter or map is a blob, its image. README.md has the
 * functions, and says how to load them into SQLite or compile them in (SQLITE_CORE).
 *
 * A function is handed the bytes of a blob at each call. Verifying them takes time, so what was opened is kept: as long
 * as the statement runs for an argument that SQLite calls constant (auxiliary data), and for all others in a few places
 * of the connection, since the value of a scalar subquery is the same for each row.
 *
 * A filter is open in place, over memory of SQLite's that may be gone at the next call. So a kept one is used only if
 * this call was given that very memory, of that length, with the header and the checksum that it was opened with.
 * SQLite copies the value of a scalar subquery for each row, mostly to the same memory. If the same bytes lie elsewhere
 * now, the filter is opened there, which takes constant time, and its bytes are not verified again.
 */

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif

#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

#include <math.h>
#include <petal.h>
#include <petal_map.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

#ifdef _WIN32
#define EXPORTED __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORTED __attribute__((visibility("default")))
#else
#define EXPORTED
#endif

/* Flags of later headers; an older SQLite ignores what it does not know. */
#ifndef SQLITE_RESULT_SUBTYPE
#define SQLITE_RESULT_SUBTYPE 0x001000000
#endif

/* The first SQLite with SQLITE_INNOCUOUS, and with SQLITE_DIRECTONLY for petal_contains_file. */
#define OLDEST_SQLITE 3031000
/* The first SQLite with sqlite3_is_interrupted(). */
#define TELLS_INTERRUPTS 3041000
/* The subtype of text that SQLite's JSON functions take for JSON. */
#define JSON_SUBTYPE 'J'

#define HEADER_BYTES 256
#define CHECKSUM_BYTES 8
/* How many open blobs and files a connection keeps besides those of constant arguments. */
#define KEPT 4
/* What no rate means. */
#define DEFAULT_RATE 0.01
/* How many numbers go to the library in one call. */
#define BATCH 512

/* --- What a connection has --------------------------------------------------------------------------------------- */

/* An open filter or map, one of the two, and what tells its bytes apart from others. */
typedef struct image {
  size_t references;
  petal_filter *filter;
  petal_map *map;
  /* Whether it has memory of its own, and none of SQLite's. */
  bool is_copy;
  const void *data;
  size_t length;
  unsigned char header[HEADER_BYTES];
  unsigned char checksum[CHECKSUM_BYTES];
} image;

/* What tells whether a path still names the same bytes. */
typedef struct identity {
  uint64_t device;
  uint64_t number;
  int64_t size;
  int64_t seconds;
  int64_t nanoseconds;
} identity;

/* An open file that is a filter. */
typedef struct file {
  size_t references;
  petal_filter *filter;
  identity identity;
  size_t path_length;
  char path[];
} file;

typedef void (*function)(sqlite3_context *, int, sqlite3_value **);

typedef struct definition {
  const char *name;
  int arguments;
  int flags;
  function call;
  function step;
  void (*final)(sqlite3_context *);
} definition;

typedef struct connection connection;

/* The user data of a function: its name, for messages, and its connection. */
typedef struct verb {
  connection *connection;
  const char *name;
} verb;

#define MOST_VERBS 32

struct connection {
  /* How many functions are registered, and 1 while they are being registered. */
  size_t references;
  image *images[KEPT];
  size_t next_image;
  file *files[KEPT];
  size_t next_file;
  verb verbs[MOST_VERBS];
};

static connection *connection_of(sqlite3_context *context) {
  return ((verb *)sqlite3_user_data(context))->connection;
}

static const char *name_of(sqlite3_context *context) { return ((verb *)sqlite3_user_data(context))->name; }

static void image_release(void *pointer) {
  image *image = pointer;
  if (!image || --image->references > 0) return;
  /* What was only read is freed without a look at its bytes, which may be gone. */
  petal_filter_free(image->filter);
  petal_map_free(image->map);
  sqlite3_free(image);
}

static void file_release(void *pointer) {
  file *file = pointer;
  if (!file || --file->references > 0) return;
  petal_filter_free(file->filter);
  sqlite3_free(file);
}

static void connection_release(connection *connection) {
  if (--connection->references > 0) return;
  for (size_t i = 0; i < KEPT; i++) {
    image_release(connection->images[i]);
    file_release(connection->files[i]);
  }
  sqlite3_free(connection);
}

static void verb_destroy(void *pointer) { connection_release(((verb *)pointer)->connection); }

/* --- Errors ------------------------------------------------------------------------------------------------------ */

/* Ends the call with a message, after the function's name. */
static void fail(sqlite3_context *context, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *said = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  char *message = said ? sqlite3_mprintf("%s: %s", name_of(context), said) : NULL;
  sqlite3_free(said);
  if (message) {
    sqlite3_result_error(context, message, -1);
  } else {
    sqlite3_result_error_nomem(context);
  }
  sqlite3_free(message);
}

/* Ends the call with what the library says. */
static void fail_with(sqlite3_context *context, petal_status status, const petal_error *error) {
  if (status == PETAL_ERR_CANCELLED) {
    fail(context, "interrupted");
    sqlite3_result_error_code(context, SQLITE_INTERRUPT);
    return;
  }
  fail(context, "%s", error && error->message[0] ? error->message : petal_status_message(status));
  if (status == PETAL_ERR_OUT_OF_MEMORY) sqlite3_result_error_code(context, SQLITE_NOMEM);
}

static const char *type_name(sqlite3_value *value) {
  static const char *const names[] = {"", "an integer", "a real number", "text", "a blob", "NULL"};
  int type = sqlite3_value_type(value);
  return names[type >= 1 && type <= 5 ? type : 0];
}

/* --- Arguments --------------------------------------------------------------------------------------------------- */

static bool is_null(sqlite3_value *value) { return sqlite3_value_type(value) == SQLITE_NULL; }

typedef struct key {
  bool is_number;
  uint64_t number;
  const void *data;
  size_t length;
} key;

/* Reads a key, which is not NULL. The bytes are SQLite's, until the end of the call. */
static bool key_of(sqlite3_context *context, sqlite3_value *value, key *key) {
  switch (sqlite3_value_type(value)) {
  case SQLITE_INTEGER: {
    int64_t number = sqlite3_value_int64(value);
    if (number < 0) {
      fail(context, "key is %lld, and must be 0 or more: petal_twos_complement() makes a key of a negative number",
           (sqlite3_int64)number);
      return false;
    }
    key->is_number = true;
    key->number = (uint64_t)number;
    return true;
  }
  case SQLITE_FLOAT:
    fail(context, "key is a real number (%!.15g), which is written in several ways: cast it to INTEGER or TEXT",
         sqlite3_value_double(value));
    return false;
  case SQLITE_TEXT:
    key->data = sqlite3_value_text(value);
    break;
  default:
    key->data = sqlite3_value_blob(value);
    break;
  }
  /* The length comes after the bytes, because the text may have been UTF-16. */
  key->is_number = false;
  key->length = (size_t)sqlite3_value_bytes(value);
  if (!key->data && key->length > 0) {
    sqlite3_result_error_nomem(context);
    return false;
  }
  return true;
}

/* Reads an integer that is 0 or more, also one that is written as a real number, such as 1e6. NULL is 0. */
static bool count_of(sqlite3_context *context, sqlite3_value *value, const char *name, uint64_t *count) {
  *count = 0;
  switch (sqlite3_value_type(value)) {
  case SQLITE_NULL:
    return true;
  case SQLITE_INTEGER: {
    int64_t number = sqlite3_value_int64(value);
    if (number >= 0) {
      *count = (uint64_t)number;
      return true;
    }
    fail(context, "%s is %lld, and must be 0 or more", name, (sqlite3_int64)number);
    return false;
  }
  case SQLITE_FLOAT: {
    double number = sqlite3_value_double(value);
    if (number >= 0 && number <= 9007199254740992.0 && number == floor(number)) {
      *count = (uint64_t)number;
      return true;
    }
    fail(context, "%s is %!.15g, and must be a whole number, 0 or more", name, number);
    return false;
  }
  default:
    fail(context, "%s is %s, and must be a whole number, 0 or more", name, type_name(value));
    return false;
  }
}

/* Reads a false-positive rate. NULL is 0, which the library takes for 0.01, or for no rate where a kind has none. */
static bool rate_of(sqlite3_context *context, sqlite3_value *value, double *rate) {
  *rate = 0;
  switch (sqlite3_value_type(value)) {
  case SQLITE_NULL:
    return true;
  case SQLITE_INTEGER:
  case SQLITE_FLOAT:
    *rate = sqlite3_value_double(value);
    if (*rate > 0 && *rate < 1) return true;
    fail(context, "false_positive_rate is %!.15g, and must be inside (0, 1)", *rate);
    return false;
  default:
    fail(context, "false_positive_rate is %s, and must be a number inside (0, 1)", type_name(value));
    return false;
  }
}

/* Reads the name of a kind into `name`, which has PETAL_NAME_SIZE bytes. NULL, the default kind, is no bytes. */
static bool kind_name_of(sqlite3_context *context, sqlite3_value *value, char *name) {
  name[0] = '\0';
  if (is_null(value)) return true;
  if (sqlite3_value_type(value) != SQLITE_TEXT) {
    fail(context, "kind is %s, and must be the name of a kind", type_name(value));
    return false;
  }
  const char *text = (const char *)sqlite3_value_text(value);
  if (!text) {
    sqlite3_result_error_nomem(context);
    return false;
  }
  size_t length = (size_t)sqlite3_value_bytes(value);
  if (length == 0 || length >= PETAL_NAME_SIZE || strlen(text) != length) {
    fail(context, "kind is '%.40s', and must be the name of a kind, such as 'blocked'", text);
    return false;
  }
  memcpy(name, text, length + 1);
  return true;
}

/* Finds the kind of that name, or the default one of the handle. */
static bool kind_of(sqlite3_context *context, const char *name, petal_handle_type handle, petal_kind_info *kind) {
  petal_error error = PETAL_ERROR_INIT;
  *kind = (petal_kind_info)PETAL_KIND_INFO_INIT;
  if (!name[0]) {
    for (size_t i = 0; petal_kind_get_at(i, kind, NULL) == PETAL_OK; i++) {
      if (kind->handle == handle && (kind->flags & PETAL_IS_DEFAULT)) return true;
    }
    fail(context, "this build of Petal has no default kind");
    return false;
  }
  petal_status status = petal_kind_find(name, kind, &error);
  if (status != PETAL_OK) {
    fail_with(context, status, &error);
    return false;
  }
  if (kind->handle == handle) return true;
  static const char *const handles[] = {"filter", "map", "sketch"};
  fail(context, "kind is '%s', which is a kind of %s, and must be a kind of %s", kind->name,
       kind->handle < sizeof handles / sizeof *handles ? handles[kind->handle] : "another sort", handles[handle]);
  return false;
}

/* --- Images ------------------------------------------------------------------------------------------------------ */

/* Whether the library opens an image there in place. */
static bool is_aligned(const void *data) { return (uintptr_t)data % 8 == 0; }

/* Opens a blob as a filter or a map, into `image`. In place where it is aligned, unless a copy is asked for. */
static petal_status open_bytes(const void *data, size_t length, petal_handle_type handle, bool copied, image *image,
                               petal_error *error) {
  image->filter = NULL;
  image->map = NULL;
  bool loads = copied || !is_aligned(data);
  /* The library does not write to a buffer that it opens for reading. */
  void *buffer = (void *)(uintptr_t)data;
  if (handle == PETAL_HANDLE_FILTER) {
    return loads ? petal_filter_load(data, length, NULL, &image->filter, error)
                 : petal_filter_open_in_buffer(buffer, length, NULL, &image->filter, error);
  }
  return loads ? petal_map_load(data, length, NULL, &image->map, error)
               : petal_map_open_in_buffer(buffer, length, NULL, &image->map, error);
}

static petal_status describe(const image *image, petal_description *description, petal_error *error) {
  return image->filter ? petal_filter_describe(image->filter, description, error)
                       : petal_map_describe(image->map, description, error);
}

static petal_status verify(const image *image, petal_error *error) {
  return image->filter ? petal_filter_verify(image->filter, error) : petal_map_verify(image->map, error);
}

/* Which sorts of image a function takes. */
typedef enum wanted { FILTER, MAP, ANY } wanted;

/*
 * Opens the image in a blob and verifies it. `argument` is the name of the function's argument. On a failure the call
 * has ended with a message, and `image` has nothing to free.
 */
static bool open_image(sqlite3_context *context, const char *argument, const void *data, size_t length, wanted wanted,
                       bool copied, image *image) {
  petal_error error = PETAL_ERROR_INIT;
  petal_handle_type handle = wanted == MAP ? PETAL_HANDLE_MAP : PETAL_HANDLE_FILTER;
  petal_status status = open_bytes(data, length, handle, copied, image, &error);
  if (status == PETAL_ERR_UNSUPPORTED && wanted == ANY) {
    status = open_bytes(data, length, PETAL_HANDLE_MAP, copied, image, &error);
  }
  petal_description description = PETAL_DESCRIPTION_INIT;
  if (status == PETAL_OK) status = describe(image, &description, &error);
  if (status == PETAL_OK) status = verify(image, &error);
  if (status == PETAL_OK && description.bytes == length) return true;
  if (status == PETAL_OK) {
    fail(context, "%s is a blob of %llu bytes, and the image in it has %llu", argument, (sqlite3_uint64)length,
         (sqlite3_uint64)description.bytes);
  } else {
    fail_with(context, status, &error);
  }
  petal_filter_free(image->filter);
  petal_map_free(image->map);
  image->filter = NULL;
  image->map = NULL;
  return false;
}

/* Reads the bytes of an argument that is an image. */
static bool blob_of(sqlite3_context *context, sqlite3_value *value, const char *argument, const void **data,
                    size_t *length) {
  if (sqlite3_value_type(value) != SQLITE_BLOB) {
    fail(context, "%s is %s, and must be a blob that is an image of Petal's", argument, type_name(value));
    return false;
  }
  *data = sqlite3_value_blob(value);
  *length = (size_t)sqlite3_value_bytes(value);
  if (!*data && *length > 0) {
    sqlite3_result_error_nomem(context);
    return false;
  }
  if (!*data) *data = "";
  return true;
}

/* Whether a kept image had these bytes, as far as the header and the checksum of all checksums tell. */
static bool is_of(const image *image, const void *data, size_t length) {
  return image && image->length == length && length >= HEADER_BYTES + CHECKSUM_BYTES &&
         memcmp(image->header, data, HEADER_BYTES) == 0 &&
         memcmp(image->checksum, (const char *)data + length - CHECKSUM_BYTES, CHECKSUM_BYTES) == 0;
}

static bool is_a(const image *image, wanted wanted) {
  return wanted == ANY || (wanted == FILTER ? image->filter != NULL : image->map != NULL);
}

/*
 * Makes a kept image one over the memory that this call was given, if it has the same bytes. False if it has not, or if
 * that takes more than opening in place.
 */
static bool is_kept(image *kept, const void *data, size_t length, wanted wanted) {
  if (!is_of(kept, data, length) || !is_a(kept, wanted)) return false;
  if (kept->is_copy || kept->data == data) return true;
  if (!is_aligned(data)) return false;
  image moved = {0};
  petal_handle_type handle = kept->filter ? PETAL_HANDLE_FILTER : PETAL_HANDLE_MAP;
  if (open_bytes(data, length, handle, false, &moved, NULL) != PETAL_OK) return false;
  petal_filter_free(kept->filter);
  petal_map_free(kept->map);
  kept->filter = moved.filter;
  kept->map = moved.map;
  kept->data = data;
  return true;
}

/*
 * The image in the first argument of a function: one that was kept, or opened now and kept. It stays open until the end
 * of the call. NULL if the call has ended with a message.
 */
static const image *kept_image(sqlite3_context *context, sqlite3_value *value, const char *argument, wanted wanted) {
  const void *data;
  size_t length;
  if (!blob_of(context, value, argument, &data, &length)) return NULL;
  image *found = sqlite3_get_auxdata(context, 0);
  if (is_kept(found, data, length, wanted)) return found;
  connection *connection = connection_of(context);
  for (size_t i = 0; i < KEPT; i++) {
    if (is_kept(connection->images[i], data, length, wanted)) return connection->images[i];
  }
  image *opened = sqlite3_malloc64(sizeof *opened);
  if (!opened) {
    sqlite3_result_error_nomem(context);
    return NULL;
  }
  memset(opened, 0, sizeof *opened);
  if (!open_image(context, argument, data, length, wanted, false, opened)) {
    sqlite3_free(opened);
    return NULL;
  }
  opened->is_copy = !is_aligned(data);
  opened->data = data;
  opened->length = length;
  memcpy(opened->header, data, HEADER_BYTES);
  memcpy(opened->checksum, (const char *)data + length - CHECKSUM_BYTES, CHECKSUM_BYTES);
  /* The connection and the auxiliary data refer to it; SQLite drops the latter at once if the argument may change. */
  opened->references = 2;
  image_release(connection->images[connection->next_image]);
  connection->images[connection->next_image] = opened;
  connection->next_image = (connection->next_image + 1) % KEPT;
  sqlite3_set_auxdata(context, 0, opened, image_release);
  return opened;
}

static bool is_too_large(sqlite3_context *context, uint64_t bytes) {
  int limit = sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1);
  if (bytes <= (uint64_t)limit) return false;
  sqlite3_result_error_toobig(context);
  return true;
}

/* Makes the image of a filter or a map the result. */
static void give_image(sqlite3_context *context, const image *image) {
  petal_error error = PETAL_ERROR_INIT;
  uint64_t size = 0;
  petal_status status = image->filter ? petal_filter_serialized_size(image->filter, &size, &error)
                                      : petal_map_serialized_size(image->map, &size, &error);
  if (status != PETAL_OK) {
    fail_with(context, status, &error);
    return;
  }
  if (is_too_large(context, size)) return;
  void *bytes = sqlite3_malloc64(size);
  if (!bytes) {
    sqlite3_result_error_nomem(context);
    return;
  }
  status = image->filter ? petal_filter_serialize(image->filter, bytes, (size_t)size, NULL, &error)
                         : petal_map_serialize(image->map, bytes, (size_t)size, NULL, &error);
  if (status == PETAL_OK) {
    sqlite3_result_blob64(context, bytes, size, sqlite3_free);
  } else {
    sqlite3_free(bytes);
    fail_with(context, status, &error);
  }
}

/* --- Asking ------------------------------------------------------------------------------------------------------ */

static petal_keys batch_of(const key *key, uint64_t offsets[2]) {
  offsets[0] = 0;
  offsets[1] = key->length;
  return key->is_number ? petal_keys_u64(&key->number, 1) : petal_keys_bytes(key->data, key->length, offsets, 1);
}

/* Ends a call that asked a filter about one key. The form for many keys has the message. */
static void fail_asking(sqlite3_context *context, const petal_filter *filter, petal_status status, const key *key) {
  if (status == PETAL_ERR_SECRET_MISSING) {
    fail(context, "the filter has a secret key, and SQL has no way to give it");
    return;
  }
  petal_error error = PETAL_ERROR_INIT;
  uint64_t offsets[2];
  uint8_t byte;
  petal_keys keys = batch_of(key, offsets);
  petal_answers answers = PETAL_ANSWERS_INIT;
  answers.bytes = &byte;
  petal_filter_contains_batch(filter, &keys, &answers, &error);
  fail_with(context, status, error.status == status ? &error : NULL);
}

static void give_contains(sqlite3_context *context, const petal_filter *filter, const key *key) {
  bool found = false;
  petal_status status = key->is_number ? petal_filter_contains_checked_u64(filter, key->number, &found)
                                       : petal_filter_contains_checked(filter, key->data, key->length, &found);
  if (status == PETAL_OK) {
    sqlite3_result_int(context, found);
  } else {
    fail_asking(context, filter, status, key);
  }
}

static void contains(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  key key;
  if (is_null(values[0]) || is_null(values[1]) || !key_of(context, values[1], &key)) return;
  const image *image = kept_image(context, values[0], "filter", FILTER);
  if (image) give_contains(context, image->filter, &key);
}

/* Makes an unsigned number the result. */
static void give_number(sqlite3_context *context, uint64_t number, const char *what) {
  if (number <= INT64_MAX) {
    sqlite3_result_int64(context, (sqlite3_int64)number);
  } else {
    fail(context, "the %s is %llu, and an integer of SQL is at most %lld", what, (sqlite3_uint64)number,
         (sqlite3_int64)INT64_MAX);
  }
}

static void count_key(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  key key;
  if (is_null(values[0]) || is_null(values[1]) || !key_of(context, values[1], &key)) return;
  const image *image = kept_image(context, values[0], "filter", FILTER);
  if (!image) return;
  uint64_t times = 0;
  petal_status status = key.is_number ? petal_filter_count_u64(image->filter, key.number, &times)
                                      : petal_filter_count(image->filter, key.data, key.length, &times);
  if (status == PETAL_OK) {
    give_number(context, times, "count");
  } else if (status == PETAL_ERR_UNSUPPORTED) {
    petal_error error = PETAL_ERROR_INIT;
    uint64_t offsets[2];
    petal_keys keys = batch_of(&key, offsets);
    petal_answers answers = PETAL_ANSWERS_INIT;
    answers.counts = &times;
    petal_filter_count_batch(image->filter, &keys, &answers, &error);
    fail_with(context, status, &error);
  } else {
    fail_asking(context, image->filter, status, &key);
  }
}

static void get(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  key key;
  if (is_null(values[0]) || is_null(values[1]) || !key_of(context, values[1], &key)) return;
  const image *image = kept_image(context, values[0], "map", MAP);
  if (!image) return;
  uint64_t value = 0;
  bool found = false;
  petal_status status = key.is_number ? petal_map_get_u64(image->map, key.number, &value, &found)
                                      : petal_map_get(image->map, key.data, key.length, &value, &found);
  if (status == PETAL_ERR_SECRET_MISSING) {
    fail(context, "the map has a secret key, and SQL has no way to give it");
  } else if (status != PETAL_OK) {
    fail_with(context, status, NULL);
  } else if (found) {
    give_number(context, value, "value");
  }
}

static void estimate(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  if (is_null(values[0])) return;
  const image *image = kept_image(context, values[0], "filter", FILTER);
  if (!image) return;
  petal_error error = PETAL_ERROR_INIT;
  petal_filter_estimate estimate = {0};
  petal_status status = petal_filter_get_estimate(image->filter, &estimate, &error);
  if (status != PETAL_OK) {
    fail_with(context, status, &error);
  } else if (!estimate.saturated) {
    sqlite3_result_double(context, estimate.value);
  }
}

static void twos_complement(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  if (is_null(values[0])) return;
  if (sqlite3_value_type(values[0]) != SQLITE_INTEGER) {
    fail(context, "the number is %s, and must be an integer", type_name(values[0]));
    return;
  }
  uint64_t number = (uint64_t)sqlite3_value_int64(values[0]);
  unsigned char bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(number >> 8 * i);
  sqlite3_result_blob(context, bytes, sizeof bytes, SQLITE_TRANSIENT);
}

static void version(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  (void)values;
  sqlite3_result_text(context, petal_version_string(), -1, SQLITE_STATIC);
}

/* --- Files ------------------------------------------------------------------------------------------------------- */

static bool identify(const char *path, identity *identity) {
  struct stat found;
  if (stat(path, &found) != 0) return false;
  identity->device = (uint64_t)found.st_dev;
  identity->number = (uint64_t)found.st_ino;
  identity->size = (int64_t)found.st_size;
#if defined(__APPLE__)
  identity->seconds = (int64_t)found.st_mtimespec.tv_sec;
  identity->nanoseconds = (int64_t)found.st_mtimespec.tv_nsec;
#elif defined(_WIN32)
  identity->seconds = (int64_t)found.st_mtime;
  identity->nanoseconds = 0;
#else
  identity->seconds = (int64_t)found.st_mtim.tv_sec;
  identity->nanoseconds = (int64_t)found.st_mtim.tv_nsec;
#endif
  return true;
}

static bool is_same(const identity *one, const identity *other) {
  return one->device == other->device && one->number == other->number && one->size == other->size &&
         one->seconds == other->seconds && one->nanoseconds == other->nanoseconds;
}

static bool is_at(const file *file, const char *path, size_t length, const identity *identity) {
  return file && file->path_length == length && memcmp(file->path, path, length) == 0 &&
         is_same(&file->identity, identity);
}

/* Opens and verifies the file, with its identity from before it was opened. NULL if the call has ended. */
static file *open_file(sqlite3_context *context, const char *path, size_t length, const identity *known) {
  file *opened = sqlite3_malloc64(sizeof *opened + length + 1);
  if (!opened) {
    sqlite3_result_error_nomem(context);
    return NULL;
  }
  memset(opened, 0, sizeof *opened);
  memcpy(opened->path, path, length + 1);
  opened->path_length = length;
  if (known) opened->identity = *known;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status = petal_filter_open(path, NULL, &opened->filter, &error);
  if (status == PETAL_OK) status = petal_filter_verify(opened->filter, &error);
  if (status == PETAL_OK) return opened;
  fail(context, "%s: %s", path, error.message[0] ? error.message : petal_status_message(status));
  if (status == PETAL_ERR_OUT_OF_MEMORY) sqlite3_result_error_code(context, SQLITE_NOMEM);
  petal_filter_free(opened->filter);
  sqlite3_free(opened);
  return NULL;
}

/*
 * The file in the first argument of a function, opened anew if another one has its path now. A file that was replaced
 * between the look at its identity and the opening is opened once more at the next call, because that finds another
 * identity.
 */
static const file *kept_file(sqlite3_context *context, sqlite3_value *value) {
  if (sqlite3_value_type(value) != SQLITE_TEXT) {
    fail(context, "path is %s, and must be text", type_name(value));
    return NULL;
  }
  const char *path = (const char *)sqlite3_value_text(value);
  if (!path) {
    sqlite3_result_error_nomem(context);
    return NULL;
  }
  size_t length = (size_t)sqlite3_value_bytes(value);
  if (length == 0 || strlen(path) != length) {
    fail(context, length == 0 ? "path is empty" : "path has a NUL in it");
    return NULL;
  }
  identity now;
  bool is_there = identify(path, &now);
  file *found = sqlite3_get_auxdata(context, 0);
  if (is_there && is_at(found, path, length, &now)) return found;
  connection *connection = connection_of(context);
  for (size_t i = 0; is_there && i < KEPT; i++) {
    if (is_at(connection->files[i], path, length, &now)) return connection->files[i];
  }
  file *opened = open_file(context, path, length, is_there ? &now : NULL);
  if (!opened) return NULL;
  /* The place of an older file of that path is the one to take, so that no file is kept for nobody. */
  size_t place = 0;
  while (place < KEPT && !(connection->files[place] && strcmp(connection->files[place]->path, path) == 0)) place++;
  if (place == KEPT) {
    place = connection->next_file;
    connection->next_file = (place + 1) % KEPT;
  }
  opened->references = 2;
  file_release(connection->files[place]);
  connection->files[place] = opened;
  sqlite3_set_auxdata(context, 0, opened, file_release);
  return opened;
}

static void contains_file(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  key key;
  if (is_null(values[0]) || is_null(values[1]) || !key_of(context, values[1], &key)) return;
  const file *file = kept_file(context, values[0]);
  if (file) give_contains(context, file->filter, &key);
}

/* --- JSON -------------------------------------------------------------------------------------------------------- */

/* The shortest digits from which the number can be read back, with a point whatever the process's locale; or null. */
static void append_real(sqlite3_str *text, double number) {
  if (!isfinite(number)) {
    sqlite3_str_appendall(text, "null");
    return;
  }
  char digits[64];
  for (int precision = 15; precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, number);
    if (strtod(digits, NULL) == number) break;
  }
  bool is_whole = true, after_point = false;
  for (const char *place = digits; *place; place++) {
    bool is_plain = (*place >= '0' && *place <= '9') || *place == '-' || *place == '+' || *place == 'e';
    if (is_plain) sqlite3_str_appendchar(text, 1, *place);
    /* The locale's point may have several bytes. */
    if (!is_plain && !after_point) sqlite3_str_appendchar(text, 1, '.');
    after_point = !is_plain;
    if (!is_plain || *place == 'e') is_whole = false;
  }
  if (is_whole) sqlite3_str_appendall(text, ".0");
}

/* Appends `"name":number`, or null if the number is not known. */
static void append_real_field(sqlite3_str *text, const char *before, double number, bool is_known) {
  sqlite3_str_appendall(text, before);
  append_real(text, is_known ? number : NAN);
}

static void append_count_field(sqlite3_str *text, const char *before, uint64_t number, bool is_known) {
  sqlite3_str_appendall(text, before);
  if (is_known) {
    sqlite3_str_appendf(text, "%llu", (sqlite3_uint64)number);
  } else {
    sqlite3_str_appendall(text, "null");
  }
}

/* Makes the text the result, as JSON, and frees it. */
static void give_json(sqlite3_context *context, sqlite3_str *text) {
  int code = sqlite3_str_errcode(text);
  int length = sqlite3_str_length(text);
  char *json = sqlite3_str_finish(text);
  if (code == SQLITE_TOOBIG) {
    sqlite3_free(json);
    sqlite3_result_error_toobig(context);
  } else if (code != SQLITE_OK || !json) {
    sqlite3_free(json);
    sqlite3_result_error_nomem(context);
  } else {
    sqlite3_result_text(context, json, length, sqlite3_free);
    sqlite3_result_subtype(context, JSON_SUBTYPE);
  }
}

/* What the payload of a filter or map tells. */
typedef struct measured {
  petal_statistics statistics;
  petal_filter_estimate estimate;
  bool is_estimated;
  bool is_counting;
} measured;

static petal_status measure(const image *image, measured *measured, petal_error *error) {
  measured->statistics = (petal_statistics)PETAL_STATISTICS_INIT;
  if (!image->filter) return petal_map_get_statistics(image->map, &measured->statistics, error);
  uint64_t capabilities = petal_filter_capabilities(image->filter);
  measured->is_counting = capabilities & PETAL_CAN_COUNT;
  if (capabilities & PETAL_CAN_ESTIMATE) {
    petal_status status = petal_filter_get_estimate(image->filter, &measured->estimate, error);
    if (status != PETAL_OK) return status;
    measured->is_estimated = !measured->estimate.saturated;
  }
  return petal_filter_get_statistics(image->filter, &measured->statistics, error);
}

/* Whether the payload certainly has keys that were not counted: those that many insert at once. */
static bool is_uncounted(const measured *measured, uint64_t insertions) {
  const petal_filter_estimate *estimate = &measured->estimate;
  if (measured->is_estimated) return estimate->value - 4.5 * estimate->standard_error > (double)insertions;
  return insertions == 0 && measured->statistics.fill > 0;
}

/* The bits of each key: of the capacity, or of the keys of a filter that grew past it. */
static double bits_per_key(const petal_description *description, const petal_kind_info *kind, const measured *measured,
                           bool uncounted) {
  double keys = (double)description->capacity;
  if (kind->overfill == PETAL_OVERFILL_GROWS) {
    double most = (double)description->insertions;
    double known = measured->is_estimated ? measured->estimate.value : most;
    if (!uncounted && known > most) known = most;
    if (known > keys) keys = known;
  }
  return (double)description->bits / keys;
}

static petal_kind_info kind_numbered(petal_kind number) {
  petal_kind_info kind = PETAL_KIND_INFO_INIT;
  for (size_t i = 0; petal_kind_get_at(i, &kind, NULL) == PETAL_OK; i++) {
    if (kind.kind == number) break;
  }
  return kind;
}

static void info(sqlite3_context *context, int count, sqlite3_value **values) {
  static const char *const hashes[] = {"",     "xxh3",     "xxh64",     "siphash13", "external", "format",
                                       "xxph3", "identity", "siphash24", "digest"};
  (void)count;
  if (is_null(values[0])) return;
  const image *image = kept_image(context, values[0], "filter", ANY);
  if (!image) return;
  petal_error error = PETAL_ERROR_INIT;
  petal_description is = PETAL_DESCRIPTION_INIT;
  measured measured = {0};
  petal_status status = describe(image, &is, &error);
  if (status == PETAL_OK) status = measure(image, &measured, &error);
  if (status != PETAL_OK) {
    fail_with(context, status, &error);
    return;
  }
  petal_kind_info kind = kind_numbered(is.kind);
  const petal_statistics *statistics = &measured.statistics;
  bool uncounted = is_uncounted(&measured, is.insertions);
  /* Maps know keys by 128 bits, of which the library's statistics say 0, and the command the rate of equal ones. */
  double floor_rate = image->filter ? statistics->false_positive_rate_floor : ldexp((double)is.insertions, -128);
  sqlite3_str *text = sqlite3_str_new(sqlite3_context_db_handle(context));
  sqlite3_str_appendf(text, "{\"type\":\"%s\",\"kind\":\"%s\",\"hash\":\"%s\"", image->filter ? "filter" : "map",
                      kind.name, is.hash < sizeof hashes / sizeof *hashes ? hashes[is.hash] : "");
  append_count_field(text, ",\"seed\":", is.seed, true);
  append_count_field(text, ",\"format_version\":", is.format_version, true);
  append_count_field(text, ",\"layout_version\":", is.layout_version, true);
  append_count_field(text, ",\"hashes\":", is.hashes, true);
  append_count_field(text, ",\"capacity\":", is.capacity, is.capacity != 0);
  append_count_field(text, ",\"insertions\":", is.insertions, !uncounted);
  append_count_field(text, ",\"bits\":", is.bits, true);
  append_count_field(text, ",\"bytes\":", is.bytes, true);
  append_real_field(text, ",\"bits_per_key\":", bits_per_key(&is, &kind, &measured, uncounted), is.capacity != 0);
  append_real_field(text, ",\"false_positive_rate\":", is.false_positive_rate, is.false_positive_rate != 0);
  append_real_field(text, ",\"statistics\":{\"fill\":", statistics->fill, true);
  append_real_field(text, ",\"false_positive_rate\":", statistics->false_positive_rate, true);
  append_real_field(text, ",\"false_positive_rate_floor\":", floor_rate, true);
  append_real_field(text, ",\"count_estimate\":", measured.estimate.value, measured.is_estimated);
  append_count_field(text, ",\"saturated\":", statistics->saturated, measured.is_counting);
  sqlite3_str_appendall(text, "}}");
  give_json(context, text);
}

static void append_proposal(sqlite3_str *text, const petal_plan_proposal *proposal, bool is_first) {
  sqlite3_str_appendf(text, "%s{\"kind\":\"%s\"", is_first ? "" : ",", proposal->name);
  append_real_field(text, ",\"bits_per_key\":", proposal->bits_per_key, true);
  append_count_field(text, ",\"bytes\":", proposal->bytes, true);
  append_real_field(text, ",\"false_positive_rate\":", proposal->false_positive_rate, true);
  append_real_field(text, ",\"lines_per_lookup\":", proposal->lines_per_lookup, true);
  append_count_field(text, ",\"build_memory\":", proposal->build_memory, true);
  bool is_built = kind_numbered(proposal->kind).overfill == PETAL_OVERFILL_IS_BUILT;
  sqlite3_str_appendf(text, ",\"is_built\":%s}", is_built ? "true" : "false");
}

static void plan(sqlite3_context *context, int count, sqlite3_value **values) {
  petal_plan_request request = PETAL_PLAN_REQUEST_INIT;
  request.is_static = 1;
  if (is_null(values[0]) || !count_of(context, values[0], "keys", &request.keys) ||
      (count > 1 && !rate_of(context, values[1], &request.false_positive_rate))) {
    return;
  }
  if (request.false_positive_rate == 0) request.false_positive_rate = DEFAULT_RATE;
  size_t room = petal_kind_count(), proposed = 0;
  petal_plan_proposal *proposals = sqlite3_malloc64(room * sizeof *proposals);
  if (!proposals) {
    sqlite3_result_error_nomem(context);
    return;
  }
  memset(proposals, 0, room * sizeof *proposals);
  proposals->struct_size = sizeof *proposals;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status = petal_plan_propose(&request, proposals, room, &proposed, &error);
  if (status == PETAL_OK) {
    sqlite3_str *text = sqlite3_str_new(sqlite3_context_db_handle(context));
    sqlite3_str_appendchar(text, 1, '[');
    bool is_first = true;
    for (size_t i = 0; i < proposed && i < room; i++) {
      if (proposals[i].status != PETAL_OK) continue;
      append_proposal(text, &proposals[i], is_first);
      is_first = false;
    }
    sqlite3_str_appendchar(text, 1, ']');
    give_json(context, text);
  } else {
    fail_with(context, status, &error);
  }
  sqlite3_free(proposals);
}

/* --- Merging ----------------------------------------------------------------------------------------------------- */

/* Makes the filter in a blob part of the union in `into`. The first one becomes the union. */
static bool merge_blob(sqlite3_context *context, sqlite3_value *value, const char *argument, image *into) {
  const void *data;
  size_t length;
  if (!blob_of(context, value, argument, &data, &length)) return false;
  if (!into->filter) return open_image(context, argument, data, length, FILTER, true, into);
  image other;
  if (!open_image(context, argument, data, length, FILTER, false, &other)) return false;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status = petal_filter_merge(into->filter, other.filter, &error);
  petal_filter_free(other.filter);
  if (status != PETAL_OK) fail_with(context, status, &error);
  return status == PETAL_OK;
}

static void merge(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  if (is_null(values[0]) || is_null(values[1])) return;
  image all = {0};
  if (merge_blob(context, values[0], "filter", &all) && merge_blob(context, values[1], "other", &all)) {
    give_image(context, &all);
  }
  petal_filter_free(all.filter);
}

/* The state of petal_merge_agg: SQLite begins with zeros. */
typedef struct merging {
  image all;
  bool failed;
} merging;

static void merge_step(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  if (is_null(values[0])) return;
  merging *state = sqlite3_aggregate_context(context, sizeof *state);
  if (!state) {
    sqlite3_result_error_nomem(context);
  } else if (!state->failed) {
    state->failed = !merge_blob(context, values[0], "filter", &state->all);
  }
}

/* SQLite ends every aggregation that began, failed ones too. */
static void merge_final(sqlite3_context *context) {
  merging *state = sqlite3_aggregate_context(context, 0);
  if (!state) return;
  if (state->all.filter && !state->failed) give_image(context, &state->all);
  petal_filter_free(state->all.filter);
  state->all.filter = NULL;
}

/* --- Building ---------------------------------------------------------------------------------------------------- */

/* What the arguments ask for, which is the same in all rows of a group. */
typedef struct wishes {
  uint64_t capacity;
  double false_positive_rate;
  char kind[PETAL_NAME_SIZE];
} wishes;

/* Whether the wishes of a row are those of the rows before. */
static bool are_kept(sqlite3_context *context, const wishes *before, const wishes *now) {
  double rate = before->false_positive_rate > 0 ? before->false_positive_rate : DEFAULT_RATE;
  double new_rate = now->false_positive_rate > 0 ? now->false_positive_rate : DEFAULT_RATE;
  if (before->capacity != now->capacity) {
    fail(context, "capacity was %llu and is %llu, and must be the same in all rows of a group",
         (sqlite3_uint64)before->capacity, (sqlite3_uint64)now->capacity);
  } else if (rate != new_rate) {
    fail(context, "false_positive_rate was %!.15g and is %!.15g, and must be the same in all rows of a group",
         rate, new_rate);
  } else if (strcmp(before->kind, now->kind) != 0) {
    fail(context, "kind was %s%s%s and is %s%s%s, and must be the same in all rows of a group",
         before->kind[0] ? "'" : "", before->kind[0] ? before->kind : "NULL", before->kind[0] ? "'" : "",
         now->kind[0] ? "'" : "", now->kind[0] ? now->kind : "NULL", now->kind[0] ? "'" : "");
  } else {
    return true;
  }
  return false;
}

/*
 * Whether a connection was interrupted. The SQLite that runs may be older than the header, and then nobody knows; or it
 * is newer than Debian 12's header, that of 3.40. The table of SQLite's functions only grows at its end, where 3.41 put
 * this one after those of 3.40.
 */
static bool is_interrupted(sqlite3 *db) {
  if (sqlite3_libversion_number() < TELLS_INTERRUPTS) return false;
#if SQLITE_VERSION_NUMBER >= TELLS_INTERRUPTS
  return sqlite3_is_interrupted(db);
#elif !defined(SQLITE_CORE) && SQLITE_VERSION_NUMBER >= 3040000
  typedef struct later_routines {
    sqlite3_api_routines before;
    int (*is_interrupted)(sqlite3 *);
  } later_routines;
  return ((const later_routines *)(const void *)sqlite3_api)->is_interrupted(db);
#else
  (void)db;
  return false;
#endif
}

/* Has a long build end when the connection is interrupted. */
static bool goes_on(void *pointer, uint64_t done, uint64_t total) {
  (void)done;
  (void)total;
  return !is_interrupted(pointer);
}

static petal_builder_options options_of(sqlite3_context *context) {
  petal_builder_options options = PETAL_BUILDER_OPTIONS_INIT;
  options.progress = goes_on;
  options.progress_context = sqlite3_context_db_handle(context);
  return options;
}

/* The state of petal_agg: SQLite begins with zeros. Either keys are inserted into a filter, or a builder has them. */
typedef struct gathering {
  bool began;
  bool failed;
  wishes wishes;
  petal_filter *filter;
  petal_builder *builder;
  size_t count;
  uint64_t numbers[BATCH];
} gathering;

static bool begin_filter(sqlite3_context *context, gathering *state) {
  petal_error error = PETAL_ERROR_INIT;
  petal_kind_info kind;
  if (!kind_of(context, state->wishes.kind, PETAL_HANDLE_FILTER, &kind)) return false;
  petal_spec spec = PETAL_SPEC_INIT;
  spec.kind = kind.kind;
  spec.capacity = state->wishes.capacity;
  spec.false_positive_rate = state->wishes.false_positive_rate;
  petal_status status = PETAL_OK;
  if (spec.capacity && (kind.capabilities & PETAL_CAN_INSERT)) {
    uint64_t bytes = 0;
    status = petal_spec_image_size(&spec, &bytes, &error);
    if (status == PETAL_OK && is_too_large(context, bytes)) return false;
    if (status == PETAL_OK) status = petal_filter_new(&spec, &state->filter, &error);
  } else {
    petal_builder_options options = options_of(context);
    status = petal_builder_new(&spec, &options, &state->builder, &error);
  }
  if (status != PETAL_OK) fail_with(context, status, &error);
  return status == PETAL_OK;
}

static bool gather(sqlite3_context *context, gathering *state, const petal_keys *keys) {
  petal_error error = PETAL_ERROR_INIT;
  petal_status status = state->filter ? petal_filter_insert_batch(state->filter, keys, NULL, &error)
                                      : petal_builder_add_batch(state->builder, keys, NULL, &error);
  if (status != PETAL_OK) fail_with(context, status, &error);
  return status == PETAL_OK;
}

/* Passes on the numbers that wait. */
static bool gather_numbers(sqlite3_context *context, gathering *state) {
  if (state->count == 0) return true;
  petal_keys keys = petal_keys_u64(state->numbers, state->count);
  state->count = 0;
  return gather(context, state, &keys);
}

static bool gather_key(sqlite3_context *context, gathering *state, const key *key) {
  if (key->is_number) {
    state->numbers[state->count++] = key->number;
    return state->count < BATCH || gather_numbers(context, state);
  }
  /* Some kinds forget the oldest keys, so keys keep their order. */
  if (!gather_numbers(context, state)) return false;
  petal_status status = state->filter ? petal_filter_insert(state->filter, key->data, key->length, NULL)
                                      : petal_builder_add(state->builder, key->data, key->length);
  if (status == PETAL_OK) return true;
  /* The form for many keys says what is wrong. */
  uint64_t offsets[2];
  petal_keys keys = batch_of(key, offsets);
  if (gather(context, state, &keys)) fail_with(context, status, NULL);
  return false;
}

static bool gather_row(sqlite3_context *context, gathering *state, int count, sqlite3_value **values) {
  wishes wishes = {0};
  key key;
  if ((count > 1 && !count_of(context, values[1], "capacity", &wishes.capacity)) ||
      (count > 2 && !rate_of(context, values[2], &wishes.false_positive_rate)) ||
      (count > 3 && !kind_name_of(context, values[3], wishes.kind)) || !key_of(context, values[0], &key)) {
    return false;
  }
  if (state->began && !are_kept(context, &state->wishes, &wishes)) return false;
  if (!state->began) {
    state->began = true;
    state->wishes = wishes;
    if (!begin_filter(context, state)) return false;
  }
  return gather_key(context, state, &key);
}

static void gather_step(sqlite3_context *context, int count, sqlite3_value **values) {
  if (is_null(values[0])) return;
  gathering *state = sqlite3_aggregate_context(context, sizeof *state);
  if (!state) {
    sqlite3_result_error_nomem(context);
  } else if (!state->failed) {
    state->failed = !gather_row(context, state, count, values);
  }
}

static void gather_final(sqlite3_context *context) {
  gathering *state = sqlite3_aggregate_context(context, 0);
  if (!state) return;
  if (state->began && !state->failed && gather_numbers(context, state)) {
    petal_error error = PETAL_ERROR_INIT;
    petal_status status = PETAL_OK;
    if (!state->filter) status = petal_builder_finish(state->builder, &state->filter, &error);
    /* The keys go before the bytes of the result come. */
    petal_builder_free(state->builder);
    state->builder = NULL;
    if (status == PETAL_OK) {
      give_image(context, &(image){.filter = state->filter});
    } else {
      fail_with(context, status, &error);
    }
  }
  petal_builder_free(state->builder);
  petal_filter_free(state->filter);
  state->builder = NULL;
  state->filter = NULL;
}

/* The state of petal_build_map: SQLite begins with zeros. */
typedef struct mapping {
  bool began;
  bool failed;
  wishes wishes;
  petal_map_builder *builder;
  size_t count;
  uint64_t numbers[BATCH];
  uint64_t values[BATCH];
} mapping;

static bool begin_map(sqlite3_context *context, mapping *state) {
  petal_error error = PETAL_ERROR_INIT;
  petal_kind_info kind;
  if (!kind_of(context, state->wishes.kind, PETAL_HANDLE_MAP, &kind)) return false;
  petal_spec spec = PETAL_SPEC_INIT;
  spec.kind = kind.kind;
  spec.false_positive_rate = state->wishes.false_positive_rate;
  petal_builder_options options = options_of(context);
  petal_status status = petal_map_builder_new(&spec, &options, &state->builder, &error);
  if (status != PETAL_OK) fail_with(context, status, &error);
  return status == PETAL_OK;
}

static bool map_keys(sqlite3_context *context, mapping *state, const petal_keys *keys, const uint64_t *values) {
  petal_error error = PETAL_ERROR_INIT;
  petal_status status = petal_map_builder_put_batch(state->builder, keys, values, NULL, &error);
  if (status != PETAL_OK) fail_with(context, status, &error);
  return status == PETAL_OK;
}

static bool map_numbers(sqlite3_context *context, mapping *state) {
  if (state->count == 0) return true;
  petal_keys keys = petal_keys_u64(state->numbers, state->count);
  state->count = 0;
  return map_keys(context, state, &keys, state->values);
}

static bool map_row(sqlite3_context *context, mapping *state, int count, sqlite3_value **values) {
  wishes wishes = {0};
  key key;
  if ((count > 2 && !rate_of(context, values[2], &wishes.false_positive_rate)) ||
      (count > 3 && !kind_name_of(context, values[3], wishes.kind)) || !key_of(context, values[0], &key)) {
    return false;
  }
  if (sqlite3_value_type(values[1]) != SQLITE_INTEGER) {
    fail(context, "value is %s, and must be an integer, 0 or more", type_name(values[1]));
    return false;
  }
  int64_t value = sqlite3_value_int64(values[1]);
  if (value < 0) {
    fail(context, "value is %lld, and must be 0 or more", (sqlite3_int64)value);
    return false;
  }
  if (state->began && !are_kept(context, &state->wishes, &wishes)) return false;
  if (!state->began) {
    state->began = true;
    state->wishes = wishes;
    if (!begin_map(context, state)) return false;
  }
  if (key.is_number) {
    state->values[state->count] = (uint64_t)value;
    state->numbers[state->count++] = key.number;
    return state->count < BATCH || map_numbers(context, state);
  }
  uint64_t offsets[2], single = (uint64_t)value;
  petal_keys keys = batch_of(&key, offsets);
  return map_keys(context, state, &keys, &single);
}

static void map_step(sqlite3_context *context, int count, sqlite3_value **values) {
  if (is_null(values[0]) || is_null(values[1])) return;
  mapping *state = sqlite3_aggregate_context(context, sizeof *state);
  if (!state) {
    sqlite3_result_error_nomem(context);
  } else if (!state->failed) {
    state->failed = !map_row(context, state, count, values);
  }
}

static void map_final(sqlite3_context *context) {
  mapping *state = sqlite3_aggregate_context(context, 0);
  if (!state) return;
  if (state->began && !state->failed && map_numbers(context, state)) {
    petal_error error = PETAL_ERROR_INIT;
    petal_map *map = NULL;
    petal_status status = petal_map_builder_finish(state->builder, &map, &error);
    petal_map_builder_free(state->builder);
    state->builder = NULL;
    if (status == PETAL_OK) {
      give_image(context, &(image){.map = map});
    } else {
      fail_with(context, status, &error);
    }
    petal_map_free(map);
  }
  petal_map_builder_free(state->builder);
  state->builder = NULL;
}

/* --- Registering ------------------------------------------------------------------------------------------------- */

/* The same bytes give the same answer, and nothing but the answer comes of it: fit for indexes, views and triggers. */
#define PURE (SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS)
/* The answer may differ in another version of the library, so no index may have it. */
#define VERSIONED (SQLITE_UTF8 | SQLITE_INNOCUOUS)
/* The answer is that of a file, which no view or trigger of a database that somebody sent may ask for. */
#define OUTSIDE (SQLITE_UTF8 | SQLITE_DIRECTONLY)

static const definition definitions[] = {
  {"petal_agg", 1, PURE, NULL, gather_step, gather_final},
  {"petal_agg", 2, PURE, NULL, gather_step, gather_final},
  {"petal_agg", 3, PURE, NULL, gather_step, gather_final},
  {"petal_agg", 4, PURE, NULL, gather_step, gather_final},
  {"petal_merge_agg", 1, PURE, NULL, merge_step, merge_final},
  {"petal_build_map", 2, PURE, NULL, map_step, map_final},
  {"petal_build_map", 3, PURE, NULL, map_step, map_final},
  {"petal_build_map", 4, PURE, NULL, map_step, map_final},
  {"petal_contains", 2, PURE, contains, NULL, NULL},
  {"petal_contains_file", 2, OUTSIDE, contains_file, NULL, NULL},
  {"petal_count", 2, PURE, count_key, NULL, NULL},
  {"petal_estimate", 1, PURE, estimate, NULL, NULL},
  {"petal_merge", 2, PURE, merge, NULL, NULL},
  {"petal_get", 2, PURE, get, NULL, NULL},
  {"petal_info", 1, PURE | SQLITE_RESULT_SUBTYPE, info, NULL, NULL},
  {"petal_plan", 1, VERSIONED | SQLITE_RESULT_SUBTYPE, plan, NULL, NULL},
  {"petal_plan", 2, VERSIONED | SQLITE_RESULT_SUBTYPE, plan, NULL, NULL},
  {"petal_twos_complement", 1, PURE, twos_complement, NULL, NULL},
  {"petal_version", 0, VERSIONED, version, NULL, NULL},
};

#define DEFINED (sizeof definitions / sizeof *definitions)
typedef char verbs_have_room[DEFINED <= MOST_VERBS ? 1 : -1];

static int register_all(sqlite3 *db, char **message) {
  if (sqlite3_libversion_number() < OLDEST_SQLITE) {
    if (message) *message = sqlite3_mprintf("Petal needs SQLite 3.31 or newer, and this is %s", sqlite3_libversion());
    return SQLITE_ERROR;
  }
  connection *connection = sqlite3_malloc64(sizeof *connection);
  if (!connection) return SQLITE_NOMEM;
  memset(connection, 0, sizeof *connection);
  connection->references = 1;
  int status = SQLITE_OK;
  for (size_t i = 0; status == SQLITE_OK && i < DEFINED; i++) {
    const definition *is = &definitions[i];
    connection->verbs[i] = (verb){connection, is->name};
    connection->references++;
    /* A failed registration destroys the user data too. */
    status = sqlite3_create_function_v2(db, is->name, is->arguments, is->flags, &connection->verbs[i], is->call,
                                        is->step, is->final, verb_destroy);
  }
  connection_release(connection);
  return status;
}

#ifdef SQLITE_CORE

int sqlite3_petal_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);
int sqlite3_petal_init(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
  (void)api;
  return register_all(db, message);
}

#else

EXPORTED int sqlite3_petalsqlite_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);
EXPORTED int sqlite3_extension_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

/* The name that SQLite derives from petal_sqlite.so. */
int sqlite3_petalsqlite_init(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
  SQLITE_EXTENSION_INIT2(api)
  int status = register_all(db, message);
  /* What the library gave to the system, such as what to do after a fork, stays when the connection is closed. */
  return status == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : status;
}

/* The name that SQLite looks for first, whatever the file is called. */
int sqlite3_extension_init(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
  return sqlite3_petalsqlite_init(db, message, api);
}

#endif
