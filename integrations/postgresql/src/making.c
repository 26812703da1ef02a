/* What the aggregates make: the arguments capacity, false_positive_rate and kind, and how a builder works. */

#include "extension.h"

#include <unistd.h>

#include <catalog/pg_tablespace_d.h>
#include <commands/tablespace.h>
#include <miscadmin.h>
#include <storage/fd.h>
#include <utils/builtins.h>
#include <utils/float.h>

MemoryContext aggregate_context(FunctionCallInfo call, const char *function) {
  MemoryContext context;
  if (!AggCheckCallContext(call, &context)) {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("%s: this function serves an aggregate", function)));
  }
  return context;
}

wish wish_of(FunctionCallInfo call, const char *function, int capacity, int rate, int kind) {
  wish wanted;
  memset(&wanted, 0, sizeof wanted);
  if (capacity >= 0 && !call->args[capacity].isnull) {
    wanted.has_capacity = true;
    wanted.capacity = DatumGetInt64(call->args[capacity].value);
    if (wanted.capacity < 0) {
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                      errmsg("%s: capacity is " INT64_FORMAT ", and must be 0 or more", function, wanted.capacity)));
    }
  }
  if (rate >= 0 && !call->args[rate].isnull) {
    wanted.has_rate = true;
    wanted.rate = DatumGetFloat8(call->args[rate].value);
  }
  if (kind >= 0 && !call->args[kind].isnull) {
    text *name = DatumGetTextPP(call->args[kind].value);
    if (VARSIZE_ANY_EXHDR(name) >= sizeof wanted.kind) {
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                      errmsg("%s: kind is a name of %d bytes, and no kind has so long a name", function,
                             (int)VARSIZE_ANY_EXHDR(name))));
    }
    wanted.has_kind = true;
    memcpy(wanted.kind, VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name));
  }
  return wanted;
}

static char *text_of_capacity(const wish *wanted) {
  return wanted->has_capacity ? psprintf(INT64_FORMAT, wanted->capacity) : "NULL";
}

static char *text_of_rate(const wish *wanted) { return wanted->has_rate ? float8out_internal(wanted->rate) : "NULL"; }

static const char *text_of_kind(const wish *wanted) { return wanted->has_kind ? wanted->kind : "NULL"; }

static void raise_change(const char *function, const char *name, const char *before, const char *now) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("%s: %s is %s here and %s in another row, and must be the same in all rows of a group", function,
                         name, now, before)));
}

/* Whether an argument of the call differs from what the rows before it had. Runs for every row. */
static bool is_other_integer(bool before, int64 number, const NullableDatum *now) {
  return before == now->isnull || (before && number != DatumGetInt64(now->value));
}

static bool is_other_number(bool before, double number, const NullableDatum *now) {
  return before == now->isnull || (before && number != DatumGetFloat8(now->value));
}

static bool is_other_name(bool before, const char *name, const NullableDatum *now) {
  if (before == now->isnull) return true;
  if (!before) return false;
  const struct varlena *text = (const struct varlena *)DatumGetPointer(now->value);
  size_t length = strlen(name);
  if (VARATT_IS_EXTENDED(text) && !VARATT_IS_SHORT(text)) text = PG_DETOAST_DATUM_PACKED(now->value);
  return VARSIZE_ANY_EXHDR(text) != length || memcmp(VARDATA_ANY(text), name, length) != 0;
}

void wish_check(const wish *before, FunctionCallInfo call, const char *function, int capacity, int rate, int kind) {
  if (capacity >= 0 && is_other_integer(before->has_capacity, before->capacity, &call->args[capacity])) {
    wish now = wish_of(call, function, capacity, -1, -1);
    raise_change(function, "capacity", text_of_capacity(before), text_of_capacity(&now));
  }
  if (rate >= 0 && is_other_number(before->has_rate, before->rate, &call->args[rate])) {
    wish now = wish_of(call, function, -1, rate, -1);
    raise_change(function, "false_positive_rate", text_of_rate(before), text_of_rate(&now));
  }
  if (kind >= 0 && is_other_name(before->has_kind, before->kind, &call->args[kind])) {
    wish now = wish_of(call, function, -1, -1, kind);
    raise_change(function, "kind", text_of_kind(before), text_of_kind(&now));
  }
}

void wish_check_partial(const wish *before, const wish *now, const char *function) {
  if (before->has_capacity != now->has_capacity || before->capacity != now->capacity)
    raise_change(function, "capacity", text_of_capacity(before), text_of_capacity(now));
  if (before->has_rate != now->has_rate || before->rate != now->rate)
    raise_change(function, "false_positive_rate", text_of_rate(before), text_of_rate(now));
  if (before->has_kind != now->has_kind || strcmp(before->kind, now->kind) != 0)
    raise_change(function, "kind", text_of_kind(before), text_of_kind(now));
}

petal_spec wish_spec(const wish *wanted, petal_handle_type handle, const char *function) {
  petal_spec spec = PETAL_SPEC_INIT;
  petal_error error = PETAL_ERROR_INIT;
  if (wanted->has_kind) {
    petal_kind_info info = PETAL_KIND_INFO_INIT;
    petal_status status = petal_kind_find(wanted->kind, &info, &error);
    if (status == PETAL_ERR_UNKNOWN_VALUE) {
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                      errmsg("%s: kind is \"%s\", and no kind has that name", function, wanted->kind),
                      errhint("petal_plan(1000) names the kinds of filter; a map is \"bloomier\".")));
    }
    if (status != PETAL_OK) raise_status(function, status, &error);
    if (info.handle != handle) {
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                      errmsg("%s: kind is \"%s\", and must be a kind of %s", function, wanted->kind,
                             handle == PETAL_HANDLE_MAP ? "map" : "filter")));
    }
    spec.kind = info.kind;
  }
  spec.capacity = (uint64)wanted->capacity;
  /* 0 means the default to the library, and nothing that somebody would ask for. */
  if (wanted->has_rate && !(wanted->rate > 0 && wanted->rate < 1)) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("%s: false_positive_rate is %s, and must be above 0 and below 1", function,
                           text_of_rate(wanted))));
  }
  spec.false_positive_rate = wanted->rate;
  return spec;
}

/* Long builds end with the query. What cancels it is raised where the call of the library has returned. */
static bool goes_on(void *context, uint64_t done, uint64_t total) { return !QueryCancelPending && !ProcDiePending; }

/* The folder of temporary files of this session's tablespace, which PostgreSQL makes at the first use. */
static char *temporary_folder(void) {
  char *path = palloc(MAXPGPATH);
  PrepareTempTablespaces();
  Oid tablespace = GetNextTempTableSpace();
  if (!OidIsValid(tablespace)) tablespace = MyDatabaseTableSpace;
  TempTablespacePath(path, tablespace);
  if (access(path, F_OK) != 0) (void)MakePGDirectory(path);
  return path;
}

petal_builder_options builder_options(void) {
  petal_builder_options options = PETAL_BUILDER_OPTIONS_INIT;
  options.memory_limit = Max((uint64)work_mem * 1024, 1048576);
  options.temporary_directory = temporary_folder();
  options.progress = goes_on;
  return options;
}
