/*
 * Who may use a handle when. The library lets many threads read a handle, and one thread change it alone. A call that
 * keeps the GIL has the handle to itself anyway. A call that releases the GIL notes that in `uses` and holds `lock`
 * meanwhile, so that others wait for it. No code of Python runs while a call holds a handle, except the progress
 * function of a builder, for which `owner` is there.
 */

#include "binding.h"

#include <stdlib.h>

#ifdef _WIN32
#include <process.h>
#define getpid _getpid
#else
#include <unistd.h>
#endif

PyObject *handle_new(module_state *state, PyTypeObject *type, const image_calls *calls, void (*release)(void *),
                     void *raw) {
  handle *self = NULL;
  PyThread_type_lock lock = PyThread_allocate_lock();
  if (lock) {
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    self = (handle *)alloc(type, 0);
  } else {
    PyErr_NoMemory();
  }
  if (!self) {
    if (lock) PyThread_free_lock(lock);
    release(raw);
    return NULL;
  }
  self->raw = raw;
  self->state = state;
  self->calls = calls;
  self->free = release;
  self->lock = lock;
  self->process = (long)getpid();
  return (PyObject *)self;
}

/* The library writes what is left of an image in place, which may take long. */
static void let_go(handle *self, void *raw) {
  void (*release)(void *) = self->free;
  Py_BEGIN_ALLOW_THREADS
  release(raw);
  Py_END_ALLOW_THREADS
}

void handle_dealloc(PyObject *object) {
  handle *self = (handle *)object;
  PyTypeObject *type = Py_TYPE(object);
  if (PyType_GetFlags(type) & Py_TPFLAGS_HAVE_GC) PyObject_GC_UnTrack(object);
  if (self->raw) {
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    void *raw = self->raw;
    self->raw = NULL;
    let_go(self, raw);
    PyErr_Restore(kind, value, trace);
  }
  if (self->lock) PyThread_free_lock(self->lock);
  Py_CLEAR(self->progress);
  free(self->context);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(object);
  Py_DECREF(type);
}

static int closed(handle *self) {
  raise_own(self->state, ERROR_CLOSED, "closed", "the object is closed");
  return -1;
}

/* Makes the handle usable in a child of the process that used it last: the threads that used it are not here. */
static int adopt(handle *self) {
  if (self->process == (long)getpid()) return 0;
  if (self->uses < 0) {
    raise_own(self->state, ERROR_BUSY, "busy",
              "another thread was changing this object when the process forked, and its state is unknown here");
    return -1;
  }
  /* What threads only read is whole. The old lock stays with whoever held it. */
  PyThread_type_lock lock = PyThread_allocate_lock();
  if (!lock) {
    PyErr_NoMemory();
    return -1;
  }
  self->lock = lock;
  self->uses = 0;
  self->process = (long)getpid();
  return 0;
}

/* Waits until the thread that has the handle is done. */
static int wait_for_others(handle *self) {
  if (self->uses < 0 && self->owner == PyThread_get_thread_ident()) {
    raise_own(self->state, ERROR_BUSY, "busy", "a callback must not use the object whose call runs it");
    return -1;
  }
  PyThread_type_lock lock = self->lock;
  Py_BEGIN_ALLOW_THREADS
  PyThread_acquire_lock(lock, WAIT_LOCK);
  PyThread_release_lock(lock);
  Py_END_ALLOW_THREADS
  return PyErr_CheckSignals();
}

void *handle_wait_to_read(handle *self) {
  while (self->raw && self->uses < 0) {
    if (adopt(self) < 0 || (self->uses < 0 && wait_for_others(self) < 0)) return NULL;
  }
  if (!self->raw) closed(self);
  return self->raw;
}

void *handle_wait_to_change(handle *self) {
  while (self->raw && self->uses != 0) {
    if (adopt(self) < 0 || (self->uses != 0 && wait_for_others(self) < 0)) return NULL;
  }
  if (!self->raw) closed(self);
  return self->raw;
}

/* Takes the handle without waiting: 1, or 0 if somebody has it. */
static int try_take(handle *self, bool changes) {
  if (!changes && self->uses > 0) {
    self->uses++;
    return 1;
  }
  /* A thread that waits holds the lock for a moment, without the GIL. */
  if (self->uses != 0 || !PyThread_acquire_lock(self->lock, NOWAIT_LOCK)) return 0;
  self->uses = changes ? -1 : 1;
  self->owner = changes ? PyThread_get_thread_ident() : 0;
  return 1;
}

static int take(handle *self, bool changes) {
  for (;;) {
    if (!self->raw) return closed(self);
    if (adopt(self) < 0) return -1;
    if (try_take(self, changes)) return 0;
    if (wait_for_others(self) < 0) return -1;
  }
}

int handle_read(handle *self) { return take(self, false); }

int handle_change(handle *self) { return take(self, true); }

void handle_end(handle *self) {
  if (self->uses > 1) {
    self->uses--;
    return;
  }
  self->uses = 0;
  PyThread_release_lock(self->lock);
}

/* Never waits for one handle while it holds the other, so that two threads cannot wait for each other. */
int handle_change_and_read(handle *self, handle *other) {
  for (;;) {
    if (handle_change(self) < 0) return -1;
    if (!other->raw) {
      handle_end(self);
      return closed(other);
    }
    bool adopted = adopt(other) == 0;
    if (adopted && try_take(other, false)) return 0;
    handle_end(self);
    if (!adopted) return -1;
    if (wait_for_others(other) < 0) return -1;
  }
}

int handle_read_both(handle *one, handle *other) {
  for (;;) {
    if (handle_read(one) < 0) return -1;
    if (one == other || other->uses >= 0) {
      if (handle_read(other) == 0) return 0;
      handle_end(one);
      return -1;
    }
    handle_end(one);
    if (!handle_to_read(other)) return -1;
  }
}

const char close_doc[] =
  "close($self)\n--\n\nFrees the object's memory and closes its file, after bringing an image in place up to date. Waits for\n"
  "other threads' calls. Later calls raise ClosedError; closing again does nothing.";

PyObject *handle_close(PyObject *object, PyObject *unused) {
  (void)unused;
  handle *self = (handle *)object;
  if (!self->raw) Py_RETURN_NONE;
  void *raw = handle_to_change(self);
  if (!raw) {
    if (self->raw || !PyErr_ExceptionMatches(self->state->errors[ERROR_CLOSED])) return NULL;
    /* Another thread closed it meanwhile. */
    PyErr_Clear();
    Py_RETURN_NONE;
  }
  self->raw = NULL;
  petal_error error = PETAL_ERROR_INIT;
  petal_status status = PETAL_OK;
  const image_calls *calls = self->calls;
  void (*release)(void *) = self->free;
  bool shares = self->shares;
  Py_BEGIN_ALLOW_THREADS
  /* Freeing brings an image up to date too, but does not say whether that worked. */
  petal_description description = PETAL_DESCRIPTION_INIT;
  uint32_t in_place = PETAL_STATE_IN_PLACE | PETAL_STATE_WRITABLE;
  if (calls && !shares && calls->describe(raw, &description, NULL) == PETAL_OK &&
      (description.state & in_place) == in_place) {
    status = calls->sync(raw, &error);
  }
  release(raw);
  Py_END_ALLOW_THREADS
  if (status != PETAL_OK) return raise_status(self->state, status, &error, NULL);
  Py_RETURN_NONE;
}

PyObject *handle_enter(PyObject *object, PyObject *unused) {
  (void)unused;
  handle *self = (handle *)object;
  if (!self->raw) {
    closed(self);
    return NULL;
  }
  return Py_NewRef(object);
}

PyObject *handle_exit(PyObject *object, PyObject *args) {
  (void)args;
  return handle_close(object, NULL);
}

int is_handle(PyObject *object, PyTypeObject *type, const char *name) {
  if (Py_IS_TYPE(object, type)) return 1;
  PyErr_Format(PyExc_TypeError, "the other object is no petal.%s", name);
  return 0;
}
