// A lock that compiled code can see: `with lock:`, as threading.Lock, and a flag.
//
// Who holds the interpreter lock and finds it open is alone with what it guards, until Python runs.
#pragma once

#include <nanobind/nanobind.h>

namespace noregret {

struct Lock {
    PyObject_HEAD
    PyThread_type_lock lock;
    bool held;
    PyObject* weak;  // forks know all locks by weak references
};

namespace lock {

inline PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
    auto* self = reinterpret_cast<Lock*>(type->tp_alloc(type, 0));
    if (!self) return nullptr;
    self->lock = PyThread_allocate_lock();
    if (self->lock) return reinterpret_cast<PyObject*>(self);
    Py_DECREF(self);
    return PyErr_NoMemory();
}

inline void destroy(PyObject* object) {
    auto* self = reinterpret_cast<Lock*>(object);
    PyTypeObject* type = Py_TYPE(object);
    if (self->weak) PyObject_ClearWeakRefs(object);
    if (self->lock) {
        if (self->held) PyThread_release_lock(self->lock);
        PyThread_free_lock(self->lock);
    }
    type->tp_free(object);
    Py_DECREF(type);
}

// 1: it is ours now; 0: another has it; -1: a signal raised an error while we waited.
inline int acquire(Lock* self, bool wait) {
    int got = PyThread_acquire_lock(self->lock, NOWAIT_LOCK);
    while (!got && wait) {
        PyLockStatus status;
        Py_BEGIN_ALLOW_THREADS
        status = PyThread_acquire_lock_timed(self->lock, -1, 1);
        Py_END_ALLOW_THREADS
        got = status == PY_LOCK_ACQUIRED;
        if (status == PY_LOCK_INTR && Py_MakePendingCalls() < 0) return -1;
    }
    if (got) self->held = true;
    return got;
}

inline PyObject* acquire_call(PyObject* self, PyObject* args, PyObject* named) {
    static const char* names[] = {"blocking", nullptr};
    int blocking = 1;
    if (!PyArg_ParseTupleAndKeywords(args, named, "|p:acquire", const_cast<char**>(names), &blocking))
        return nullptr;
    int got = acquire(reinterpret_cast<Lock*>(self), blocking);
    return got < 0 ? nullptr : PyBool_FromLong(got);
}

inline PyObject* enter(PyObject* self, PyObject*) {
    return acquire(reinterpret_cast<Lock*>(self), true) < 0 ? nullptr : PyBool_FromLong(1);
}

inline PyObject* release(PyObject* object, PyObject*) {
    auto* self = reinterpret_cast<Lock*>(object);
    if (!self->held) {
        PyErr_SetString(PyExc_RuntimeError, "release unlocked lock");
        return nullptr;
    }
    self->held = false;
    PyThread_release_lock(self->lock);
    Py_RETURN_NONE;
}

inline PyObject* leave(PyObject* self, PyObject* const*, Py_ssize_t) { return release(self, nullptr); }

inline PyObject* locked(PyObject* self, PyObject*) {
    return PyBool_FromLong(reinterpret_cast<Lock*>(self)->held);
}

}  // namespace lock
}  // namespace noregret
