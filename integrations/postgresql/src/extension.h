/*
 * What the files of the extension share. The library is reached through its public headers only.
 *
 * PostgreSQL leaves a function by longjmp where an error is raised, so every handle of the library belongs to a memory
 * context from before it is made (owned.c). No error is raised inside a callback of the library, because none may leave
 * a call of the library by longjmp.
 */

#ifndef PETAL_EXTENSION_H
#define PETAL_EXTENSION_H

#include <postgres.h>

#include <fmgr.h>
#if PG_VERSION_NUM >= 160000
#include <varatt.h>
#endif

#include <petal.h>
#include <petal_map.h>

/* errors.c */

/* Raises the error of a call of the library. The message begins with the name of the SQL function. */
extern _Noreturn void raise_status(const char *function, petal_status status, const petal_error *error);

/* owned.c */

/* Handles that go with a memory context, or before that where they are closed. */
typedef struct owned {
  MemoryContextCallback callback;
  petal_filter *filter;
  petal_map *map;
  petal_builder *builder;
  petal_map_builder *map_builder;
  /* Bytes from malloc. */
  char *bytes;
} owned;

extern owned *owned_new(MemoryContext context);
extern void owned_close(owned *handles);

/* value.c */

/* A value of the type petal. The image is aligned to 8, because values are (ALIGNMENT = double). */
typedef struct petal_value {
  int32 vl_len_;
  uint32 padding;
  char image[FLEXIBLE_ARRAY_MEMBER];
} petal_value;

#define IMAGE_OFFSET offsetof(petal_value, image)
/* As text a value has two digits a byte, and a row at most a gigabyte, which pg_dump and COPY need. */
#define MOST_IMAGE 500000000
/* A header and the smallest table of checksums. */
#define LEAST_IMAGE (256 + 64)

/* The value that a handle's image makes, in the current memory context. */
extern petal_value *value_of_filter(const char *function, const petal_filter *filter);
extern petal_value *value_of_map(const char *function, const petal_map *map);
/*
 * The value of an argument, detoasted. One that is shorter than any image is refused: only a superuser who goes around
 * the type's input, or a damaged disk, has such values.
 */
extern petal_value *value_of_argument(FunctionCallInfo call, int index, const char *function);
extern void check_value(const petal_value *value, const char *function);
/* Raises an error unless a filter of this size fits into a value. */
extern void check_image_size(const char *function, uint64 size);

/* opened.c */

/* What one place in a query keeps between its rows: the opened value of its first argument, and the type of its key. */
typedef struct opened opened;

extern opened *opened_of(FunctionCallInfo call);
extern const petal_filter *opened_filter(opened *place, FunctionCallInfo call, const char *function);
extern const petal_map *opened_map(opened *place, FunctionCallInfo call, const char *function);

/* key.c */

/* A key: a number, or bytes. */
typedef struct sql_key {
  bool is_number;
  uint64 number;
  const char *bytes;
  size_t length;
} sql_key;

/* The type of keys that argument `index` of this call has. Raises an error for a type that makes no keys. */
extern Oid key_type_of(FunctionCallInfo call, int index, const char *function);
extern sql_key key_of(Datum datum, Oid type, const char *function);

/* The type of the key that argument 1 has, found out once. */
extern Oid opened_key_type(opened *place, FunctionCallInfo call, const char *function);

/* making.c: what the aggregates make, and how */

/* The memory context of the aggregate that runs. Raises an error if somebody else calls a function that serves one. */
extern MemoryContext aggregate_context(FunctionCallInfo call, const char *function);

/* The arguments that say what to make. Each is the same in all rows of a group. */
typedef struct wish {
  bool has_capacity, has_rate, has_kind;
  int64 capacity;
  double rate;
  char kind[PETAL_NAME_SIZE];
} wish;

/* Reads capacity, rate and kind, from argument `first` on; a negative number leaves the argument out. */
extern wish wish_of(FunctionCallInfo call, const char *function, int capacity, int rate, int kind);
/* Raises an error if any of the arguments is another one than in the rows before. */
extern void wish_check(const wish *before, FunctionCallInfo call, const char *function, int capacity, int rate,
                       int kind);
/* The same for what a worker handed over. */
extern void wish_check_partial(const wish *before, const wish *now, const char *function);
extern petal_spec wish_spec(const wish *wanted, petal_handle_type handle, const char *function);
/* How a builder works: as much memory as work_mem, the rest in a temporary file, and cancelled with the query. */
extern petal_builder_options builder_options(void);

/* partial.c: what a parallel worker hands over */

typedef struct partial {
  wish wanted;
  bool is_builder;
  const char *bytes;
  size_t length;
} partial;

extern bytea *partial_write(owned *handles, const wish *wanted, bool is_builder, const char *function);
extern partial *partial_read(bytea *bytes, const char *function);

#endif
