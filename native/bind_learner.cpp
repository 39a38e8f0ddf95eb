// What every learner inherits: a lock, a state, and rounds that go from the caller straight to C++.
//
// Plain types of CPython's own, since a Python frame, or a call through a binding library, takes
// longer than a round of a few features.
#include <cstddef>

#include "bind.hpp"
#include "lock.hpp"
#include "one_by_one.hpp"

#include <structmember.h>  // after Python.h

namespace nb = nanobind;

namespace noregret {

static PyTypeObject* lock_type = nullptr;

// A lock, a state, and the compiled rounds of that state, if it has any.
struct Keeper {
    PyObject_HEAD
    Lock* lock;
    PyObject* state;
    PyObject* held;  // what `rounds` belongs to
    Rounds* rounds;

    // Whether a round may go in now: no call that holds the lock is under way.
    bool open() const { return rounds && !lock->held; }
};

static Keeper* keeper(PyObject* self) { return reinterpret_cast<Keeper*>(self); }

static int keeper_traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(keeper(self)->state);
    Py_VISIT(keeper(self)->held);
    return 0;
}

static int keeper_clear(PyObject* self) {
    keeper(self)->rounds = nullptr;
    Py_CLEAR(keeper(self)->state);
    Py_CLEAR(keeper(self)->held);
    return 0;
}

static void keeper_destroy(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    keeper_clear(self);
    Py_CLEAR(keeper(self)->lock);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject* new_reference_or_error(PyObject* value, const char* name) {
    if (!value) PyErr_SetString(PyExc_AttributeError, name);
    return Py_XNewRef(value);
}

static PyObject* get_lock(PyObject* self, void*) {
    return new_reference_or_error(reinterpret_cast<PyObject*>(keeper(self)->lock), "_lock");
}

static int set_lock(PyObject* self, PyObject* value, void*) {
    if (!value || !Py_IS_TYPE(value, lock_type)) {
        PyErr_SetString(PyExc_TypeError, "_lock must be a lock of noregret.learner.locks");
        return -1;
    }
    Py_INCREF(value);
    Py_XSETREF(keeper(self)->lock, reinterpret_cast<Lock*>(value));
    return 0;
}

static PyObject* get_state(PyObject* self, void*) {
    return new_reference_or_error(keeper(self)->state, "_state");
}

// A state's `fast`, if it has one, is taken over with it.
static int set_state(PyObject* self, PyObject* value, void*) {
    Keeper* here = keeper(self);
    if (!value || !here->lock) {
        PyErr_SetString(PyExc_AttributeError, "_state needs a _lock, and cannot be deleted");
        return -1;
    }
    if (value == here->state) return 0;
    nb::object fast;
    if (value != Py_None) {
        fast = nb::steal(PyObject_GetAttrString(value, "fast"));
        if (!fast.is_valid()) {
            if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
            PyErr_Clear();
        }
    }
    bool compiled = fast.is_valid() && nb::isinstance<Rounds>(fast);
    nb::object before = nb::steal(here->state), held = nb::steal(here->held);  // go at the end
    here->rounds = compiled ? nb::inst_ptr<Rounds>(fast) : nullptr;
    here->state = Py_NewRef(value);
    here->held = compiled ? fast.release().ptr() : nullptr;
    return 0;
}

// The arguments by position or by name; false, with an error set, where they are not just these.
template <Size N>
static bool take(const char* function, const char* const (&names)[N], PyObject* const* args,
                 Py_ssize_t given, PyObject* named, PyObject* (&found)[N]) {
    Size more = named ? PyTuple_GET_SIZE(named) : 0;
    bool fits = given + more == N;
    for (Size k = 0; k < N; ++k) found[k] = fits && k < given ? args[k] : nullptr;
    for (Size j = 0; fits && j < more; ++j)
        for (Size k = given; k < N; ++k)
            if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(named, j), names[k]) == 0)
                found[k] = args[given + j];
    for (Size k = 0; k < N; ++k) fits = fits && found[k];
    if (!fits)
        PyErr_Format(PyExc_TypeError, "%s() takes %s, by position or by name", function,
                     N == 1 ? "one argument, x" : "two arguments, x and y");
    return fits;
}

static PyObject *predict_carefully, *learn_carefully;  // names of methods

static PyObject* predict_one(PyObject* self, PyObject* const* args, Py_ssize_t given,
                             PyObject* named) {
    static const char* const names[] = {"x"};
    PyObject* found[1];
    if (given == 1 && !named)
        found[0] = args[0];
    else if (!take("predict_one", names, args, given, named, found))
        return nullptr;
    if (keeper(self)->open()) {
        double forecast = keeper(self)->rounds->look(found[0]);
        if (forecast == forecast) return PyFloat_FromDouble(forecast);
    }
    return PyObject_CallMethodOneArg(self, predict_carefully, found[0]);
}

static PyObject* learn_one(PyObject* self, PyObject* const* args, Py_ssize_t given,
                           PyObject* named) {
    static const char* const names[] = {"x", "y"};
    PyObject* found[2];
    if (given == 2 && !named)
        found[0] = args[0], found[1] = args[1];
    else if (!take("learn_one", names, args, given, named, found))
        return nullptr;
    if (keeper(self)->open() && keeper(self)->rounds->learn_pair(found[0], found[1]))
        Py_RETURN_NONE;
    return PyObject_CallMethodObjArgs(self, learn_carefully, found[0], found[1], nullptr);
}

template <class Function>
static PyCFunction plain(Function function) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

static PyMethodDef lock_methods[] = {
    {"acquire", plain(lock::acquire_call), METH_VARARGS | METH_KEYWORDS,
     "acquire($self, blocking=True)\n--\n\nTake the lock; whether it is ours now."},
    {"release", lock::release, METH_NOARGS, "release($self)\n--\n\nLet others in."},
    {"locked", lock::locked, METH_NOARGS, "locked($self)\n--\n\nWhether anybody has it."},
    {"__enter__", lock::enter, METH_NOARGS, "__enter__($self)\n--\n\nTake the lock."},
    {"__exit__", plain(lock::leave), METH_FASTCALL, "__exit__($self, *exc)\n--\n\nLet others in."},
    {}};
static PyMemberDef lock_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Lock, weak), READONLY, nullptr}, {}};
static PyType_Slot lock_slots[] = {
    {Py_tp_doc, const_cast<char*>("A lock that compiled rounds can see.")},
    {Py_tp_new, reinterpret_cast<void*>(lock::make)},
    {Py_tp_dealloc, reinterpret_cast<void*>(lock::destroy)},
    {Py_tp_methods, lock_methods},
    {Py_tp_members, lock_members},
    {}};
static PyType_Spec lock_spec = {"noregret._native.learner.Lock", sizeof(Lock), 0,
                                Py_TPFLAGS_DEFAULT, lock_slots};

static PyGetSetDef keeper_fields[] = {
    {"_lock", get_lock, set_lock, "What calls of several steps hold.", nullptr},
    {"_state", get_state, set_state, "What has been learned; None: nothing.", nullptr},
    {}};
static PyType_Slot keeper_slots[] = {
    {Py_tp_doc, const_cast<char*>("A lock and a state, whose compiled rounds are at hand.")},
    {Py_tp_traverse, reinterpret_cast<void*>(keeper_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(keeper_clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(keeper_destroy)},
    {Py_tp_getset, keeper_fields},
    {}};
static PyType_Spec keeper_spec = {"noregret._native.learner.Keeper", sizeof(Keeper), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                                  keeper_slots};

static PyMethodDef online_methods[] = {
    {"predict_one", plain(predict_one), METH_FASTCALL | METH_KEYWORDS,
     "predict_one($self, x)\n--\n\n"
     "Forecast the outcome at x: a 1-D array, or a mapping of feature name to number."},
    {"learn_one", plain(learn_one), METH_FASTCALL | METH_KEYWORDS,
     "learn_one($self, x, y)\n--\n\nLearn that x had the outcome y."},
    {}};
static PyType_Slot online_slots[] = {
    {Py_tp_doc, const_cast<char*>("Rounds one at a time: compiled where the state has such rounds, "
                                  "else carefully.")},
    {Py_tp_methods, online_methods},
    {}};
static PyType_Spec online_spec = {"noregret._native.learner.OneByOne", 0, 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, online_slots};

static nb::object made(PyObject* type) {
    if (!type) throw nb::python_error();
    return nb::steal(type);
}

void bind_learner(nb::module_& m) {
    predict_carefully = PyUnicode_InternFromString("_predict_carefully");
    learn_carefully = PyUnicode_InternFromString("_learn_carefully");
    nb::module_ l = m.def_submodule("learner");
    nb::object lock = made(PyType_FromSpec(&lock_spec));
    lock_type = reinterpret_cast<PyTypeObject*>(lock.ptr());
    l.attr("Lock") = lock;
    nb::object keeper = made(PyType_FromSpec(&keeper_spec));
    l.attr("Keeper") = keeper;
    l.attr("OneByOne") = made(PyType_FromSpecWithBases(&online_spec, keeper.ptr()));
    // What native/stubs.py writes of types that nanobind does not know.
    l.attr("_STUBS") = R"(
class Lock:
    def acquire(self, blocking: bool = True) -> bool: ...
    def release(self) -> None: ...
    def locked(self) -> bool: ...
    def __enter__(self) -> bool: ...
    def __exit__(self, *exc: object) -> None: ...

class Keeper:
    _lock: Lock
    _state: Any

class OneByOne(Keeper):
    def predict_one(self, x: Row) -> Forecast: ...
    def learn_one(self, x: Row, y: Outcome) -> None: ...
)";
}

}  // namespace noregret
