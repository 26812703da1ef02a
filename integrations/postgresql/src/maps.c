/* petal_get(): the value of a key in a map. */

#include "extension.h"

PG_FUNCTION_INFO_V1(petal_sql_get);

/* petal_get(map, key): the key's value, or NULL if the key is not there. */
Datum petal_sql_get(PG_FUNCTION_ARGS) {
  opened *place = opened_of(fcinfo);
  Oid type = opened_key_type(place, fcinfo, "petal_get");
  sql_key key = key_of(PG_GETARG_DATUM(1), type, "petal_get");
  const petal_map *map = opened_map(place, fcinfo, "petal_get");
  uint64 value = 0;
  bool found = false;
  petal_status status = key.is_number ? petal_map_get_u64(map, key.number, &value, &found)
                                      : petal_map_get(map, key.bytes, key.length, &value, &found);
  if (status != PETAL_OK) raise_status("petal_get", status, NULL);
  if (!found) PG_RETURN_NULL();
  if (value > PG_INT64_MAX) {
    ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                    errmsg("petal_get: the value is " UINT64_FORMAT ", and bigint ends below 2^63", value)));
  }
  PG_RETURN_INT64((int64)value);
}
