/* petal.Filter: what takes two filters. */

#include "filter.h"

static petal_status merge(void *self, const void *other, petal_error *error) {
  return petal_filter_merge(self, other, error);
}
static petal_status intersect(void *self, const void *other, petal_error *error) {
  return petal_filter_intersect(self, other, error);
}

PyObject *filter_or(PyObject *one, PyObject *other) { return image_combined(one, other, merge); }
PyObject *filter_and(PyObject *one, PyObject *other) { return image_combined(one, other, intersect); }
PyObject *filter_merge(PyObject *self, PyObject *other) { return image_changed(self, other, merge); }
PyObject *filter_intersect(PyObject *self, PyObject *other) { return image_changed(self, other, intersect); }

PyObject *filter_compare(PyObject *one, PyObject *other, int operation) {
  if (Py_TYPE(one) != Py_TYPE(other) || (operation != Py_EQ && operation != Py_NE)) {
    return Py_NewRef(Py_NotImplemented);
  }
  handle *self = (handle *)one;
  if (handle_read_both(self, (handle *)other) < 0) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status;
  bool equal = false;
  void *theirs = ((handle *)other)->raw;
  Py_BEGIN_ALLOW_THREADS
  status = petal_filter_equals(self->raw, theirs, &equal, &error);
  Py_END_ALLOW_THREADS
  handle_end((handle *)other);
  handle_end(self);
  if (status != PETAL_OK) return raise_status(self->state, status, &error, NULL);
  return PyBool_FromLong(equal == (operation == Py_EQ));
}

const char overlap_doc[] =
  "estimate_overlap($self, other, /)\n--\n\n"
  "Estimates how many distinct keys two filters that could be merged have, alone and in common, as a petal.Overlap.";

PyObject *filter_overlap(PyObject *object, PyObject *other) {
  handle *self = (handle *)object;
  if (!is_handle(other, self->state->filter, "Filter") || handle_read_both(self, (handle *)other) < 0) return NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_filter_overlap overlap = PETAL_FILTER_OVERLAP_INIT;
  petal_status status;
  void *theirs = ((handle *)other)->raw;
  Py_BEGIN_ALLOW_THREADS
  status = petal_filter_estimate_overlap(self->raw, theirs, &overlap, &error);
  Py_END_ALLOW_THREADS
  handle_end((handle *)other);
  handle_end(self);
  if (status != PETAL_OK) return raise_status(self->state, status, &error, NULL);
  const petal_filter_estimate *const estimates[] = {
    &overlap.first_count,        &overlap.second_count, &overlap.union_count,
    &overlap.intersection_count, &overlap.jaccard,      &overlap.difference_count,
  };
  PyObject *items[6];
  for (size_t i = 0; i < 6; i++) items[i] = estimate_record(self->state, estimates[i]);
  return record_new(self->state, RECORD_OVERLAP, items, 6);
}
