/* The module petal._petal. */

#include "binding.h"

static int add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type) {
  *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
  return *type ? PyModule_AddType(module, *type) : -1;
}

static int execute(PyObject *module) {
  module_state *state = PyModule_GetState(module);
  if (errors_init(module, state) < 0 || records_init(module, state) < 0 ||
      add_type(module, &array_spec, &state->array) < 0 || add_type(module, &filter_spec, &state->filter) < 0 ||
      add_type(module, &builder_spec, &state->builder) < 0 || add_type(module, &map_spec, &state->map) < 0 ||
      add_type(module, &map_builder_spec, &state->map_builder) < 0 ||
      add_type(module, &sketch_spec, &state->sketch) < 0 ||
      PyModule_AddFunctions(module, plan_functions) < 0 || PyModule_AddFunctions(module, kind_functions) < 0 ||
      PyModule_AddFunctions(module, format_functions) < 0) {
    return -1;
  }
  return PyModule_AddStringConstant(module, "__version__", petal_version_string());
}

/* Everything that the state refers to, for the garbage collector. */
static int visit_all(module_state *state, visitproc visit, void *arg) {
  for (size_t i = 0; i < ERROR_CLASSES; i++) Py_VISIT(state->errors[i]);
  for (size_t i = 0; i < RECORD_TYPES; i++) Py_VISIT(state->records[i]);
  Py_VISIT(state->filter);
  Py_VISIT(state->builder);
  Py_VISIT(state->map);
  Py_VISIT(state->map_builder);
  Py_VISIT(state->sketch);
  Py_VISIT(state->array);
  return 0;
}

static int traverse(PyObject *module, visitproc visit, void *arg) {
  module_state *state = PyModule_GetState(module);
  return state ? visit_all(state, visit, arg) : 0;
}

static int clear(PyObject *module) {
  module_state *state = PyModule_GetState(module);
  if (!state) return 0;
  for (size_t i = 0; i < ERROR_CLASSES; i++) Py_CLEAR(state->errors[i]);
  for (size_t i = 0; i < RECORD_TYPES; i++) Py_CLEAR(state->records[i]);
  Py_CLEAR(state->filter);
  Py_CLEAR(state->builder);
  Py_CLEAR(state->map);
  Py_CLEAR(state->map_builder);
  Py_CLEAR(state->sketch);
  Py_CLEAR(state->array);
  return 0;
}

static void free_state(void *module) { clear(module); }

/*
 * From 3.12 on a module says that interpreters with a GIL of their own may load it. The limited API of 3.11 does not
 * have the names of that slot and its value, and Python 3.11 refuses the slot, so the version that runs chooses.
 */
#define SLOT_MULTIPLE_INTERPRETERS 3
#define PER_INTERPRETER_GIL_SUPPORTED ((void *)2)

static PyModuleDef_Slot slots_before[] = {
  {Py_mod_exec, execute},
  {0, NULL},
};

static PyModuleDef_Slot slots[] = {
  {Py_mod_exec, execute},
  {SLOT_MULTIPLE_INTERPRETERS, PER_INTERPRETER_GIL_SUPPORTED},
  {0, NULL},
};

#define DEFINITION(its_slots)                                                                                          \
  {                                                                                                                    \
    PyModuleDef_HEAD_INIT, .m_name = "petal._petal", .m_size = sizeof(module_state), .m_slots = its_slots,             \
    .m_traverse = traverse, .m_clear = clear, .m_free = free_state,                                                    \
  }

static struct PyModuleDef definition_before = DEFINITION(slots_before);
static struct PyModuleDef definition = DEFINITION(slots);

PyMODINIT_FUNC PyInit__petal(void) {
  return PyModuleDef_Init(Py_Version < 0x030C0000 ? &definition_before : &definition);
}
