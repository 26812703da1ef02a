/* petal_info() and petal_plan(), as jsonb with the names that the command's --json has. */

#include "extension.h"

#include <math.h>

#include <lib/stringinfo.h>
#include <utils/builtins.h>
#include <utils/float.h>
#include <utils/fmgrprotos.h>

PG_FUNCTION_INFO_V1(petal_sql_info);
PG_FUNCTION_INFO_V1(petal_sql_plan);

static void put_text(StringInfo json, const char *name, const char *text) {
  appendStringInfo(json, "\"%s\":\"%s\",", name, text);
}

static void put_integer(StringInfo json, const char *name, uint64 number) {
  appendStringInfo(json, "\"%s\":" UINT64_FORMAT ",", name, number);
}

/* NaN, the infinities and `unknown` are null. */
static void put_number(StringInfo json, const char *name, double number, double unknown) {
  if (isfinite(number) && number != unknown)
    appendStringInfo(json, "\"%s\":%s,", name, float8out_internal(number));
  else
    appendStringInfo(json, "\"%s\":null,", name);
}

static void end_object(StringInfo json) {
  json->data[json->len - 1] = '}';
}

static const char *hash_name(petal_hash_function hash) {
  static const char *const names[] = {"",       "xxh3",     "xxh64",      "siphash13", "external",
                                      "format", "xxph3",    "identity",   "siphash24", "digest"};
  return hash < lengthof(names) ? names[hash] : "";
}

static const char *kind_name(petal_kind kind, petal_kind_info *info) {
  for (size_t i = 0; i < petal_kind_count(); i++) {
    petal_kind_info known = PETAL_KIND_INFO_INIT;
    if (petal_kind_get_at(i, &known, NULL) == PETAL_OK && known.kind == kind) {
      *info = known;
      return info->name;
    }
  }
  return "";
}

/* What a filter or map is, and what its payload tells. */
typedef struct measured {
  const char *type;
  petal_description is;
  petal_statistics now;
  petal_filter_estimate estimate;
  bool is_estimated, is_counting, is_uncounted;
} measured;

static petal_status measure_filter(const petal_filter *filter, measured *all, petal_error *error) {
  all->type = "filter";
  petal_status status = petal_filter_describe(filter, &all->is, error);
  if (status != PETAL_OK) return status;
  uint64 capabilities = petal_filter_capabilities(filter);
  all->is_counting = (capabilities & PETAL_CAN_COUNT) != 0;
  if (capabilities & PETAL_CAN_ESTIMATE) {
    status = petal_filter_get_estimate(filter, &all->estimate, error);
    if (status != PETAL_OK) return status;
    all->is_estimated = !all->estimate.saturated;
  }
  return petal_filter_get_statistics(filter, &all->now, error);
}

static petal_status measure_map(const petal_map *map, measured *all, petal_error *error) {
  all->type = "map";
  petal_status status = petal_map_describe(map, &all->is, error);
  if (status == PETAL_OK) status = petal_map_get_statistics(map, &all->now, error);
  /* Maps know keys by 128 bits, of which the library says 0, and the command the rate of equal ones. */
  all->now.false_positive_rate_floor = ldexp((double)all->is.insertions, -128);
  return status;
}

/* Whether the payload certainly has keys that were not counted: those that many insert at once. */
static bool is_uncounted(const measured *all) {
  if (all->is_estimated)
    return all->estimate.value - 4.5 * all->estimate.standard_error > (double)all->is.insertions;
  return all->is.insertions == 0 && all->now.fill > 0;
}

/* The bits of each key: of the capacity, or of the keys of a filter that grew past it. */
static double bits_per_key(const measured *all, const petal_kind_info *kind) {
  double keys = (double)all->is.capacity;
  if (kind->overfill == PETAL_OVERFILL_GROWS) {
    double most = (double)all->is.insertions;
    double known = all->is_estimated ? all->estimate.value : most;
    if (!all->is_uncounted) known = Min(known, most);
    keys = Max(keys, known);
  }
  return (double)all->is.bits / keys;
}

/* `name` is null where nobody knows the number. */
static void put_known(StringInfo json, const char *name, uint64 number, bool is_known) {
  if (is_known)
    put_integer(json, name, number);
  else
    appendStringInfo(json, "\"%s\":null,", name);
}

static void put_description(StringInfo json, const measured *all) {
  const petal_description *is = &all->is;
  petal_kind_info info = PETAL_KIND_INFO_INIT;
  appendStringInfoChar(json, '{');
  put_text(json, "type", all->type);
  put_text(json, "kind", kind_name(is->kind, &info));
  put_text(json, "hash", hash_name(is->hash));
  put_integer(json, "seed", is->seed);
  put_integer(json, "format_version", is->format_version);
  put_integer(json, "layout_version", is->layout_version);
  put_integer(json, "hashes", is->hashes);
  put_known(json, "capacity", is->capacity, is->capacity != 0);
  put_known(json, "insertions", is->insertions, !all->is_uncounted);
  put_integer(json, "bits", is->bits);
  put_integer(json, "bytes", is->bytes);
  put_number(json, "bits_per_key", is->capacity == 0 ? NAN : bits_per_key(all, &info), 0);
  put_number(json, "false_positive_rate", is->false_positive_rate, 0);
}

static void put_statistics(StringInfo json, const measured *all) {
  const petal_statistics *now = &all->now;
  appendStringInfoString(json, "\"statistics\":{");
  put_number(json, "fill", now->fill, -1);
  put_number(json, "false_positive_rate", now->false_positive_rate, -1);
  put_number(json, "false_positive_rate_floor", now->false_positive_rate_floor, -1);
  put_number(json, "count_estimate", all->is_estimated ? all->estimate.value : NAN, -1);
  put_known(json, "saturated", now->saturated, all->is_counting);
  end_object(json);
  appendStringInfoString(json, "}");
}

/* petal_info(filter or map): what its header says, and how full it is. */
Datum petal_sql_info(PG_FUNCTION_ARGS) {
  petal_value *value = value_of_argument(fcinfo, 0, "petal_info");
  size_t length = VARSIZE(value) - IMAGE_OFFSET;
  petal_error error = PETAL_ERROR_INIT;
  measured all = {.is = PETAL_DESCRIPTION_INIT, .now = PETAL_STATISTICS_INIT};
  petal_filter *filter = NULL;
  /* No error is raised while a handle is open. */
  petal_status status = petal_filter_open_in_buffer(value->image, length, NULL, &filter, &error);
  if (status == PETAL_OK) {
    status = measure_filter(filter, &all, &error);
    petal_filter_free(filter);
  } else if (status == PETAL_ERR_UNSUPPORTED) {
    petal_map *map = NULL;
    status = petal_map_open_in_buffer(value->image, length, NULL, &map, &error);
    if (status == PETAL_OK) status = measure_map(map, &all, &error);
    petal_map_free(map);
  }
  if (status != PETAL_OK) raise_status("petal_info", status, &error);
  all.is_uncounted = is_uncounted(&all);
  StringInfoData json;
  initStringInfo(&json);
  put_description(&json, &all);
  put_statistics(&json, &all);
  return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

static void put_proposal(StringInfo json, const petal_plan_proposal *proposal) {
  petal_kind_info info = PETAL_KIND_INFO_INIT;
  kind_name(proposal->kind, &info);
  appendStringInfoString(json, json->len > 1 ? ",{" : "{");
  put_text(json, "kind", proposal->name);
  put_number(json, "bits_per_key", proposal->bits_per_key, -1);
  put_integer(json, "bytes", proposal->bytes);
  put_number(json, "false_positive_rate", proposal->false_positive_rate, -1);
  put_number(json, "lines_per_lookup", proposal->lines_per_lookup, -1);
  put_integer(json, "build_memory", proposal->build_memory);
  appendStringInfo(json, "\"is_built\":%s}", info.overfill == PETAL_OVERFILL_IS_BUILT ? "true" : "false");
}

/* petal_plan(keys, false_positive_rate): the kinds that fit, the smallest first. */
Datum petal_sql_plan(PG_FUNCTION_ARGS) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  int64 keys = PG_GETARG_INT64(0);
  if (keys < 0) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("petal_plan: keys is " INT64_FORMAT ", and must be 0 or more", keys)));
  }
  petal_plan_request request = PETAL_PLAN_REQUEST_INIT;
  request.keys = (uint64)keys;
  request.false_positive_rate = PG_ARGISNULL(1) ? 0.01 : PG_GETARG_FLOAT8(1);
  request.is_static = 1;
  size_t room = petal_kind_count(), count = 0;
  petal_plan_proposal *proposals = palloc0(room * sizeof *proposals);
  proposals->struct_size = sizeof *proposals;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status = petal_plan_propose(&request, proposals, room, &count, &error);
  if (status != PETAL_OK) raise_status("petal_plan", status, &error);
  StringInfoData json;
  initStringInfo(&json);
  appendStringInfoChar(&json, '[');
  for (size_t i = 0; i < Min(count, room); i++)
    if (proposals[i].status == PETAL_OK) put_proposal(&json, &proposals[i]);
  appendStringInfoChar(&json, ']');
  return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}
