/* What the files of petal.Filter share: the calls for many keys. */

#ifndef PETAL_FILTER_H
#define PETAL_FILTER_H

#include "binding.h"

petal_status filter_contains_batch(void *, const petal_keys *, const uint64_t *, petal_answers *, petal_error *);
petal_status filter_insert_batch(void *, const petal_keys *, const uint64_t *, petal_answers *, petal_error *);
petal_status filter_insert_shared_batch(void *, const petal_keys *, const uint64_t *, petal_answers *, petal_error *);
petal_status filter_remove_batch(void *, const petal_keys *, const uint64_t *, petal_answers *, petal_error *);
petal_status filter_count_batch(void *, const petal_keys *, const uint64_t *, petal_answers *, petal_error *);

PyObject *filter_contains_many(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *filter_update(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *filter_add_many(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *filter_discard_many(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *filter_count_many(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *filter_rejuvenate_many(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *filter_add_times(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *filter_remove_times(PyObject *self, PyObject *args, PyObject *kwargs);

PyObject *filter_or(PyObject *one, PyObject *other);
PyObject *filter_and(PyObject *one, PyObject *other);
PyObject *filter_merge(PyObject *self, PyObject *other);
PyObject *filter_intersect(PyObject *self, PyObject *other);
PyObject *filter_compare(PyObject *one, PyObject *other, int operation);
PyObject *filter_overlap(PyObject *self, PyObject *other);

extern const char contains_doc[], update_doc[], add_many_doc[], discard_many_doc[], count_many_doc[],
  rejuvenate_many_doc[], add_times_doc[], remove_times_doc[], overlap_doc[];

#endif
