/* plan() and kinds(): which kinds there are, and what each would cost. */

#include "binding.h"

static module_state *state_of(PyObject *module) { return PyModule_GetState(module); }

static PyObject *choices_of(petal_kind kind, size_t index, const petal_parameter_info *info) {
  PyObject *choices = PyTuple_New(info->choice_count);
  for (size_t i = 0; choices && i < info->choice_count; i++) {
    char name[PETAL_NAME_SIZE] = "";
    petal_kind_get_choice(kind, index, i, name, NULL);
    PyObject *text = PyUnicode_FromString(name);
    if (!text || PyTuple_SetItem(choices, (Py_ssize_t)i, text) < 0) Py_CLEAR(choices);
  }
  return choices;
}

static PyObject *parameters_of(module_state *state, const petal_kind_info *kind) {
  PyObject *parameters = PyTuple_New(kind->parameter_count);
  for (size_t i = 0; parameters && i < kind->parameter_count; i++) {
    petal_parameter_info info = PETAL_PARAMETER_INFO_INIT;
    petal_kind_get_parameter(kind->kind, i, &info, NULL);
    PyObject *items[] = {
      PyUnicode_FromString(info.name),        PyUnicode_FromString(info.summary),
      PyFloat_FromDouble(info.minimum),       PyFloat_FromDouble(info.maximum),
      PyFloat_FromDouble(info.default_value), choices_of(kind->kind, i, &info),
    };
    PyObject *record = record_new(state, RECORD_PARAMETER, items, 6);
    if (!record || PyTuple_SetItem(parameters, (Py_ssize_t)i, record) < 0) Py_CLEAR(parameters);
  }
  return parameters;
}

static PyObject *kind_record(module_state *state, const petal_kind_info *kind) {
  static const char *const overfills[] = {"", "rate_rises", "refuses", "grows", "is_built", "forgets"};
  static const char *const handles[] = {"filter", "map", "sketch"};
  PyObject *items[] = {
    PyUnicode_FromString(kind->name),
    PyUnicode_FromString(kind->summary),
    PyUnicode_FromString(handles[kind->handle]),
    capability_names(kind->capabilities),
    PyUnicode_FromString(kind->overfill < 6 ? overfills[kind->overfill] : ""),
    parameters_of(state, kind),
    PyBool_FromLong(kind->flags & PETAL_IS_FOREIGN),
  };
  return record_new(state, RECORD_KIND, items, 7);
}

static PyObject *kinds(PyObject *module, PyObject *unused) {
  (void)unused;
  PyObject *list = PyList_New(0);
  size_t count = petal_kind_count();
  for (size_t i = 0; list && i < count; i++) {
    petal_kind_info kind = PETAL_KIND_INFO_INIT;
    if (petal_kind_get_at(i, &kind, NULL) != PETAL_OK || kind.handle > PETAL_HANDLE_SKETCH) continue;
    PyObject *record = kind_record(state_of(module), &kind);
    if (!record || PyList_Append(list, record) < 0) Py_CLEAR(list);
    Py_XDECREF(record);
  }
  return list;
}

PyMethodDef kind_functions[] = {
  {"kinds", kinds, METH_NOARGS, "kinds($module)\n--\n\nThe kinds of filters, maps and sketches, as a list of petal.Kind."},
  {NULL, NULL, 0, NULL},
};

/* The setting of a proposal as keyword arguments. */
static PyObject *setting_of(const petal_plan_proposal *proposal) {
  PyObject *keywords = PyDict_New();
  petal_parameter_info info = PETAL_PARAMETER_INFO_INIT;
  for (size_t i = 0; keywords && proposal->setting.id; i++) {
    if (petal_kind_get_parameter(proposal->kind, i, &info, NULL) != PETAL_OK) break;
    if (info.id != proposal->setting.id) continue;
    PyObject *value = PyFloat_FromDouble(proposal->setting.value);
    if (!value || PyDict_SetItemString(keywords, info.name, value) < 0) Py_CLEAR(keywords);
    Py_XDECREF(value);
    break;
  }
  return keywords;
}

static PyObject *plan(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *words[] = {"keys",     "rate",  "memory",   "capabilities", "is_static",
                          "universe", "times", "frequent", "non_members",  NULL};
  module_state *state = state_of(module);
  petal_plan_request request = PETAL_PLAN_REQUEST_INIT;
  PyObject *keys, *memory = NULL, *capabilities = NULL, *universe = NULL, *times = NULL, *non_members = NULL;
  int is_static = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|d$OOpOOdO", words, &keys, &request.false_positive_rate, &memory,
                                   &capabilities, &is_static, &universe, &times, &request.frequent, &non_members) ||
      number_of(keys, "keys", &request.keys) < 0 || (memory && number_of(memory, "memory", &request.memory) < 0) ||
      (capabilities && capabilities_of(state, capabilities, &request.capabilities) < 0) ||
      (universe && number_of(universe, "universe", &request.universe) < 0) ||
      (times && number_of(times, "times", &request.times) < 0) ||
      (non_members && number_of(non_members, "non_members", &request.non_members) < 0)) {
    return NULL;
  }
  request.is_static = (uint32_t)is_static;
  size_t room = petal_kind_count(), count = 0;
  petal_plan_proposal *proposals = PyMem_Calloc(room, sizeof *proposals);
  if (!proposals) return PyErr_NoMemory();
  proposals->struct_size = sizeof *proposals;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status;
  Py_BEGIN_ALLOW_THREADS
  status = petal_plan_propose(&request, proposals, room, &count, &error);
  Py_END_ALLOW_THREADS
  PyObject *list = status == PETAL_OK ? PyList_New(0) : raise_status(state, status, &error, NULL);
  for (size_t i = 0; list && i < count && i < room; i++) {
    const petal_plan_proposal *proposal = &proposals[i];
    PyObject *items[] = {
      PyUnicode_FromString(proposal->name),
      PyBool_FromLong(proposal->status == PETAL_OK),
      PyUnicode_FromString(proposal->reason),
      PyFloat_FromDouble(proposal->bits_per_key),
      PyLong_FromUnsignedLongLong(proposal->bytes),
      PyFloat_FromDouble(proposal->false_positive_rate),
      PyFloat_FromDouble(proposal->lines_per_lookup),
      PyLong_FromUnsignedLongLong(proposal->build_memory),
      setting_of(proposal),
    };
    PyObject *record = record_new(state, RECORD_PROPOSAL, items, 9);
    if (!record || PyList_Append(list, record) < 0) Py_CLEAR(list);
    Py_XDECREF(record);
  }
  PyMem_Free(proposals);
  return list;
}

PyMethodDef plan_functions[] = {
  {"plan", WITH_KEYWORDS(plan), METH_VARARGS | METH_KEYWORDS,
   "plan($module, keys, rate=0.0, *, memory=0, capabilities=(), is_static=False, universe=0, times=0, frequent=0.0, "
   "non_members=0)\n--\n\n"
   "Proposes kinds of filter for so many distinct keys at a rate, or in so many bytes of memory, as a list of\n"
   "petal.Proposal: kinds that fit come first, the smallest at the top. capabilities are names, such as 'remove'.\n"
   "is_static says that all keys are known before the first lookup."},
  {NULL, NULL, 0, NULL},
};
