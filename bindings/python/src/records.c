/* What functions return as named tuples. */

#include "binding.h"

static PyStructSequence_Field info_fields[] = {
  {"kind", "the name of the kind"},
  {"hash", "the name of the hash function"},
  {"seed", "the seed; of a keyed filter, the identifier of its secret key"},
  {"capacity", "how many distinct keys there is room for; 0 is unknown"},
  {"rate", "the false-positive rate at capacity, inside (0, 1); 0 if exact bits were asked for"},
  {"insertions", "keys inserted so far, duplicates included, less removed ones"},
  {"bits", "how many bits the keys are spread over"},
  {"hashes", "how many bits or cells a key takes; 0 for kinds without such a number"},
  {"bytes", "bytes of the whole image"},
  {"bits_per_key", "bits for each key of the capacity; 0 if the capacity is unknown"},
  {"clean", "whether the payload is marked clean"},
  {"in_place", "whether the image lies in a mapped file"},
  {"writable", "whether this object may change it"},
  {"can_hash", "whether it takes keys, and has its secret key if it needs one"},
  {NULL, NULL},
};

static PyStructSequence_Field statistics_fields[] = {
  {"fill", "the share of the bits, or of other places, that keys have taken, from 0 to 1"},
  {"rate", "the false-positive rate now"},
  {"rate_floor", "the lowest rate that 64-bit hashes allow with this many keys"},
  {"count_estimate", "distinct keys, estimated from the fill; None if nobody can tell"},
  {"saturated", "how many counters have reached their greatest value"},
  {NULL, NULL},
};

static PyStructSequence_Field estimate_fields[] = {
  {"value", "the estimate; that of an intersection may be negative"},
  {"standard_error", "the standard error, or a bound on it"},
  {"low", "the lower end of the 95 % interval"},
  {"high", "the upper end of the 95 % interval"},
  {"saturated", "whether a filter is too full to tell, and the numbers mean nothing"},
  {NULL, NULL},
};

static PyStructSequence_Field overlap_fields[] = {
  {"first", "distinct keys of the first filter"},
  {"second", "distinct keys of the second filter"},
  {"union", "distinct keys of both together"},
  {"intersection", "keys in common"},
  {"jaccard", "keys in common as a share of all"},
  {"difference", "keys that only one of the two has"},
  {NULL, NULL},
};

static PyStructSequence_Field kind_fields[] = {
  {"name", "the name"},
  {"summary", "a sentence that says what the kind is"},
  {"handle", "the class that holds it: 'filter', 'map' or 'sketch'"},
  {"capabilities", "what it can do with default parameters, as a frozenset of names"},
  {"overfill", "what it does with more keys than its capacity: 'rate_rises', 'refuses', 'grows', 'is_built', 'forgets'"},
  {"parameters", "the parameters that only this kind takes, as a tuple of petal.Parameter"},
  {"is_foreign", "whether its bits are another system's"},
  {NULL, NULL},
};

static PyStructSequence_Field parameter_fields[] = {
  {"name", "the name, which is the keyword"},
  {"summary", "a sentence that says what it does"},
  {"minimum", "the least value"},
  {"maximum", "the greatest value"},
  {"default", "the value of a parameter that nobody set"},
  {"choices", "the names of its choices, as a tuple; empty if it takes a number"},
  {NULL, NULL},
};

static PyStructSequence_Field proposal_fields[] = {
  {"kind", "the name of the kind"},
  {"fits", "whether the kind fits"},
  {"reason", "why it does not fit; empty if it does"},
  {"bits_per_key", "bits for each key"},
  {"bytes", "the size of the image in bytes"},
  {"rate", "the false-positive rate with all keys inserted"},
  {"lines_per_lookup", "cache lines that a lookup of a present key touches"},
  {"build_memory", "bytes that a builder takes besides the filter; 0 for kinds that start empty"},
  {"parameters", "keyword arguments that give the kind these numbers, as a dict"},
  {NULL, NULL},
};

static PyStructSequence_Field format_fields[] = {
  {"name", "the name"},
  {"summary", "whose format it is and what it holds"},
  {"capabilities", "'read', 'write', 'create', 'recognise' and 'build', as a frozenset"},
  {"variants", "the variants that its owners write, the default first; empty if there is one"},
  {NULL, NULL},
};

static PyStructSequence_Field difference_fields[] = {
  {"added", "numbers that were inserted, ascending"},
  {"removed", "numbers that were removed, or that only the subtracted sketch has, ascending"},
  {"complete", "whether these are all"},
  {NULL, NULL},
};

int records_init(PyObject *module, module_state *state) {
  PyStructSequence_Desc rows[RECORD_TYPES] = {
    [RECORD_INFO] = {"petal.Info", "What a filter, map or sketch is, from its header.", info_fields, 14},
    [RECORD_STATISTICS] = {"petal.Statistics", "How full a filter is.", statistics_fields, 5},
    [RECORD_ESTIMATE] = {"petal.Estimate", "An estimated number of distinct keys.", estimate_fields, 5},
    [RECORD_OVERLAP] = {"petal.Overlap", "What two filters have in common: each field is an Estimate.", overlap_fields,
                        6},
    [RECORD_KIND] = {"petal.Kind", "What the library knows of a kind.", kind_fields, 7},
    [RECORD_PARAMETER] = {"petal.Parameter", "What the library knows of a parameter.", parameter_fields, 6},
    [RECORD_PROPOSAL] = {"petal.Proposal", "The offer of one kind.", proposal_fields, 9},
    [RECORD_FORMAT] = {"petal.Format", "What the library knows of another system's format.", format_fields, 4},
    [RECORD_DIFFERENCE] = {"petal.Difference", "What a sketch lists.", difference_fields, 3},
  };
  for (size_t i = 0; i < RECORD_TYPES; i++) {
    state->records[i] = PyStructSequence_NewType(&rows[i]);
    if (!state->records[i] || PyModule_AddObjectRef(module, rows[i].name + 6, (PyObject *)state->records[i]) < 0) {
      return -1;
    }
  }
  return 0;
}

PyObject *record_new(module_state *state, enum record_type which, PyObject **items, size_t count) {
  PyObject *record = PyStructSequence_New(state->records[which]);
  bool failed = !record;
  for (size_t i = 0; i < count; i++) {
    if (!items[i]) failed = true;
    if (record) {
      PyStructSequence_SetItem(record, (Py_ssize_t)i, items[i] ? items[i] : Py_NewRef(Py_None));
    } else {
      Py_XDECREF(items[i]);
    }
  }
  if (failed) Py_CLEAR(record);
  return record;
}

PyObject *info_record(module_state *state, const petal_description *description) {
  petal_kind_info kind = PETAL_KIND_INFO_INIT;
  if (kind_of_number(state, description->kind, &kind) < 0) return NULL;
  uint32_t flags = description->state;
  PyObject *items[] = {
    PyUnicode_FromString(kind.name),
    PyUnicode_FromString(hash_name(description->hash)),
    PyLong_FromUnsignedLongLong(description->seed),
    PyLong_FromUnsignedLongLong(description->capacity),
    PyFloat_FromDouble(description->false_positive_rate),
    PyLong_FromUnsignedLongLong(description->insertions),
    PyLong_FromUnsignedLongLong(description->bits),
    PyLong_FromUnsignedLong(description->hashes),
    PyLong_FromUnsignedLongLong(description->bytes),
    PyFloat_FromDouble(description->bits_per_key),
    PyBool_FromLong(!(flags & PETAL_STATE_UNCLEAN)),
    PyBool_FromLong(flags & PETAL_STATE_IN_PLACE),
    PyBool_FromLong(flags & PETAL_STATE_WRITABLE),
    PyBool_FromLong(flags & PETAL_STATE_CAN_HASH),
  };
  return record_new(state, RECORD_INFO, items, sizeof items / sizeof *items);
}

PyObject *statistics_record(module_state *state, const petal_statistics *statistics) {
  double count = statistics->count_estimate;
  PyObject *items[] = {
    PyFloat_FromDouble(statistics->fill),
    PyFloat_FromDouble(statistics->false_positive_rate),
    PyFloat_FromDouble(statistics->false_positive_rate_floor),
    count >= 0 ? PyFloat_FromDouble(count) : Py_NewRef(Py_None),
    PyLong_FromUnsignedLongLong(statistics->saturated),
  };
  return record_new(state, RECORD_STATISTICS, items, sizeof items / sizeof *items);
}

PyObject *estimate_record(module_state *state, const petal_filter_estimate *estimate) {
  PyObject *items[] = {
    PyFloat_FromDouble(estimate->value), PyFloat_FromDouble(estimate->standard_error),
    PyFloat_FromDouble(estimate->low),   PyFloat_FromDouble(estimate->high),
    PyBool_FromLong(estimate->saturated),
  };
  return record_new(state, RECORD_ESTIMATE, items, sizeof items / sizeof *items);
}

static const char *const capability_words[] = {
  "insert",     "clear",         "merge", "intersect", "fold",      "estimate", "remove",
  "count",      "grow",          "insert_shared", "put", "replace", "enumerate", "resize",
  "age",        "may_lose_keys", "rejuvenate", "age_shared", "subtract", "list",
};
#define CAPABILITIES (sizeof capability_words / sizeof *capability_words)

PyObject *capability_names(uint64_t capabilities) {
  PyObject *names = PyList_New(0);
  for (size_t i = 0; names && i < CAPABILITIES; i++) {
    if (!(capabilities >> i & 1)) continue;
    PyObject *name = PyUnicode_InternFromString(capability_words[i]);
    if (!name || PyList_Append(names, name) < 0) Py_CLEAR(names);
    Py_XDECREF(name);
  }
  PyObject *set = names ? PyFrozenSet_New(names) : NULL;
  Py_XDECREF(names);
  return set;
}

int capabilities_of(module_state *state, PyObject *names, uint64_t *capabilities) {
  (void)state;
  *capabilities = 0;
  if (PyUnicode_Check(names)) {
    PyErr_Format(PyExc_TypeError, "capabilities is a list of names, not the text %R", names);
    return -1;
  }
  PyObject *iterator = PyObject_GetIter(names);
  PyObject *name;
  while (iterator && (name = PyIter_Next(iterator))) {
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    size_t i = 0;
    while (text && i < CAPABILITIES && strcmp(text, capability_words[i])) i++;
    if (text && i < CAPABILITIES) {
      *capabilities |= (uint64_t)1 << i;
    } else if (!PyErr_Occurred()) {
      PyErr_Format(PyExc_ValueError, "capabilities has %R, which is the name of none", name);
    }
    Py_DECREF(name);
    if (PyErr_Occurred()) break;
  }
  Py_XDECREF(iterator);
  return PyErr_Occurred() ? -1 : 0;
}
