// Whatever numbers a caller holds -> float64, exactly; or "look closer", which Python does.
//
// Arrays of float64 with any stride are read where they lie; float32 and integers, lists, tuples
// and mappings with just the known names are read into a buffer.  No code of the caller's runs on
// the way: what is not one of these exact types is declined.
#pragma once

#include <vector>

#include "layout.hpp"
#include "numpy.hpp"

namespace noregret {

// A number of Python's or NumPy's; false for anything else, and for integers that float64 rounds.
INLINE bool read_number(PyObject* object, double& value) {
    PyTypeObject* type = Py_TYPE(object);
    if (type == &PyFloat_Type || type == &PyDoubleArrType_Type) {
        value = PyFloat_AS_DOUBLE(object);
        return true;
    }
    if (type == &PyFloatArrType_Type) {
        float narrow;
        PyArray_ScalarAsCtype(object, &narrow);
        value = double(narrow);
        return true;
    }
    nanobind::object index;
    if (type != &PyLong_Type) {
        if (!PyArray_IsScalar(object, Integer)) return false;
        index = nanobind::steal(PyNumber_Index(object));
        if (!index.is_valid()) {
            PyErr_Clear();
            return false;
        }
        object = index.ptr();
    }
    int overflow = 0;
    long long whole = PyLong_AsLongLongAndOverflow(object, &overflow);
    value = double(whole);
    return overflow == 0 && std::fabs(value) <= layout::EXACT_INTEGER;
}

// True or False, of Python's or NumPy's, as 1 or 0.
INLINE bool read_truth(PyObject* object, double& value) {
    if (PyBool_Check(object)) {
        value = object == Py_True;
    } else if (Py_TYPE(object) == &PyBoolArrType_Type) {
        npy_bool truth;
        PyArray_ScalarAsCtype(object, &truth);
        value = truth;
    } else {
        return false;
    }
    return true;
}

template <class Number>
INLINE bool read_array(PyArrayObject* array, double* to) {
    const char* from = PyArray_BYTES(array);
    Size stride = PyArray_STRIDE(array, 0);
    bool exact = true;
    for (Size k = 0; k < PyArray_DIM(array, 0); ++k) {
        Number value;
        std::memcpy(&value, from + k * stride, sizeof value);
        to[k] = double(value);
        if constexpr (sizeof(Number) == 8)  // narrower integers are all exact
            exact = exact && std::fabs(to[k]) <= layout::EXACT_INTEGER;
    }
    return exact;
}

// Rows of n features, by position or by name.
class Reader {
  public:
    explicit Reader(Size n) : n_(n), buffer_(std::size_t(n)) {}

    // By name: `slots` maps each name to its place.
    explicit Reader(nanobind::dict slots)
        : n_(Size(nanobind::len(slots))), slots_(slots), buffer_(std::size_t(n_)) {
        for (auto [name, slot] : slots) {
            names_.push_back(nanobind::borrow(name));
            texts_ = texts_ && PyUnicode_CheckExact(name.ptr());
        }
    }

    // x as a vector of n numbers; false where Python must look at it.
    INLINE bool read(PyObject* x, Strided& row) {
        row = {reinterpret_cast<const char*>(buffer_.data()), n_, Size(sizeof(double))};
        if (slots_.is_valid()) return PyDict_CheckExact(x) && read_mapping(x);
        if (PyArray_CheckExact(x)) return read_vector(reinterpret_cast<PyArrayObject*>(x), row);
        if (PyList_CheckExact(x)) return read_items(PySequence_Fast_ITEMS(x), PyList_GET_SIZE(x));
        if (PyTuple_CheckExact(x)) return read_items(PySequence_Fast_ITEMS(x), PyTuple_GET_SIZE(x));
        return false;
    }

    // The same without gaps, in the buffer.
    INLINE bool read(PyObject* x, Row& row) {
        Strided found;
        if (!read(x, found)) return false;
        double* to = buffer_.data();
        row = {to, n_};
        if (buffered(found)) return true;
        if (found.stride == Size(sizeof(double)))
            std::memcpy(to, found.p, std::size_t(n_) * sizeof(double));
        else
            for (Size k = 0; k < n_; ++k) to[k] = found[k];
        return true;
    }

    // x as a row without gaps: the caller's own memory if x is such an array of float64, else the
    // buffer.  Read only, and only until the call returns.
    INLINE bool view(PyObject* x, Row& row) {
        if (!slots_.is_valid() && PyArray_CheckExact(x)) {
            auto* array = reinterpret_cast<PyArrayObject*>(x);
            if (PyArray_NDIM(array) == 1 && PyArray_DIM(array, 0) == n_ &&
                PyArray_TYPE(array) == NPY_DOUBLE && PyArray_ISCARRAY_RO(array)) {
                row = {static_cast<double*>(PyArray_DATA(array)), n_};
                return true;
            }
        }
        return read(x, row);
    }

    // Whether a row that was read lies in the buffer, and not where the caller has it.
    bool buffered(const Strided& row) const {
        return row.p == reinterpret_cast<const char*>(buffer_.data());
    }

  private:
    bool read_vector(PyArrayObject* array, Strided& row) {
        if (PyArray_NDIM(array) != 1 || PyArray_DIM(array, 0) != n_ || PyArray_ISBYTESWAPPED(array))
            return false;
        double* to = buffer_.data();
        switch (PyArray_TYPE(array)) {
            case NPY_DOUBLE:
                row = {PyArray_BYTES(array), n_, PyArray_STRIDE(array, 0)};
                return true;
            case NPY_FLOAT: return read_array<float>(array, to);
            case NPY_INT8: return read_array<std::int8_t>(array, to);
            case NPY_UINT8: return read_array<std::uint8_t>(array, to);
            case NPY_INT16: return read_array<std::int16_t>(array, to);
            case NPY_UINT16: return read_array<std::uint16_t>(array, to);
            case NPY_INT32: return read_array<std::int32_t>(array, to);
            case NPY_UINT32: return read_array<std::uint32_t>(array, to);
            case NPY_INT64: return read_array<std::int64_t>(array, to);
            case NPY_UINT64: return read_array<std::uint64_t>(array, to);
            default: return false;
        }
    }

    bool read_items(PyObject** items, Size size) {
        if (size != n_) return false;
        for (Size k = 0; k < n_; ++k)
            if (!read_number(items[k], buffer_[std::size_t(k)])) return false;
        return true;
    }

    bool read_mapping(PyObject* x) {
        if (PyDict_GET_SIZE(x) != n_) return false;
        PyObject *key, *value;
        Py_ssize_t at = 0;
        for (Size k = 0; PyDict_Next(x, &at, &key, &value); ++k) {
            Size slot = k;
            if (key != names_[std::size_t(k)].ptr()) {  // another order, or an equal text
                if (!texts_ || !PyUnicode_CheckExact(key)) return false;
                PyObject* found = PyDict_GetItemWithError(slots_.ptr(), key);
                if (!found) return false;
                slot = PyLong_AsSsize_t(found);
            }
            if (!read_number(value, buffer_[std::size_t(slot)])) return false;
        }
        return true;
    }

    Size n_;
    nanobind::object slots_;
    std::vector<nanobind::object> names_;
    bool texts_ = true;
    std::vector<double> buffer_;
};

}  // namespace noregret
