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

static void put_description(StringInfo json, const char *type, const petal_description *is) {
  petal_kind_info info = PETAL_KIND_INFO_INIT;
  appendStringInfoChar(json, '{');
  put_text(json, "type", type);
  put_text(json, "kind", kind_name(is->kind, &info));
  put_text(json, "hash", hash_name(is->hash));
  put_integer(json, "seed", is->seed);
  put_integer(json, "format_version", is->format_version);
  put_integer(json, "layout_version", is->layout_version);
  put_integer(json, "hashes", is->hashes);
  put_integer(json, "capacity", is->capacity);
  put_integer(json, "insertions", is->insertions);
  put_integer(json, "bits", is->bits);
  put_integer(json, "bytes", is->bytes);
  put_number(json, "bits_per_key", is->bits_per_key, 0);
  put_number(json, "false_positive_rate", is->false_positive_rate, 0);
}

static void put_statistics(StringInfo json, const petal_statistics *now) {
  appendStringInfoString(json, "\"statistics\":{");
  put_number(json, "fill", now->fill, -1);
  put_number(json, "false_positive_rate", now->false_positive_rate, -1);
  put_number(json, "false_positive_rate_floor", now->false_positive_rate_floor, -1);
  put_number(json, "count_estimate", now->count_estimate < 0 ? NAN : now->count_estimate, -1);
  put_integer(json, "saturated", now->saturated);
  end_object(json);
  appendStringInfoString(json, "}");
}

/* petal_info(filter or map): what its header says, and how full it is. */
Datum petal_sql_info(PG_FUNCTION_ARGS) {
  petal_value *value = value_of_argument(fcinfo, 0, "petal_info");
  size_t length = VARSIZE(value) - IMAGE_OFFSET;
  petal_error error = PETAL_ERROR_INIT;
  petal_description description = PETAL_DESCRIPTION_INIT;
  petal_statistics statistics = PETAL_STATISTICS_INIT;
  const char *type = "filter";
  petal_filter *filter = NULL;
  /* No error is raised while a handle is open. */
  petal_status status = petal_filter_open_in_buffer(value->image, length, NULL, &filter, &error);
  if (status == PETAL_OK) {
    status = petal_filter_describe(filter, &description, &error);
    if (status == PETAL_OK) status = petal_filter_get_statistics(filter, &statistics, &error);
    petal_filter_free(filter);
  } else if (status == PETAL_ERR_UNSUPPORTED) {
    type = "map";
    petal_map *map = NULL;
    status = petal_map_open_in_buffer(value->image, length, NULL, &map, &error);
    if (status == PETAL_OK) {
      status = petal_map_describe(map, &description, &error);
      if (status == PETAL_OK) status = petal_map_get_statistics(map, &statistics, &error);
      petal_map_free(map);
    }
  }
  if (status != PETAL_OK) raise_status("petal_info", status, &error);
  StringInfoData json;
  initStringInfo(&json);
  put_description(&json, type, &description);
  put_statistics(&json, &statistics);
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
