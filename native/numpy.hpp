// NumPy arrays as arguments: looked at through NumPy's own structures, which costs a nanosecond.
//
// What a function writes to must be contiguous, aligned, writable float64; anything else is a
// TypeError, never a copy.
#pragma once

#include <nanobind/nanobind.h>

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL noregret_array_api
#ifndef NOREGRET_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include "arrays.hpp"

namespace noregret {

INLINE PyArrayObject* array_of(PyObject* object, int type, int dimensions, int flags) {
    if (!PyArray_Check(object)) return nullptr;
    auto* array = reinterpret_cast<PyArrayObject*>(object);
    bool fits = PyArray_TYPE(array) == type && PyArray_NDIM(array) == dimensions &&
                (PyArray_FLAGS(array) & flags) == flags && PyArray_ISNOTSWAPPED(array);
    return fits ? array : nullptr;
}
constexpr int WRITABLE = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE;

INLINE double* data_of(PyArrayObject* array) { return static_cast<double*>(PyArray_DATA(array)); }

INLINE bool load(PyObject* object, Row& to) {
    PyArrayObject* a = array_of(object, NPY_DOUBLE, 1, WRITABLE);
    if (a) to = {data_of(a), PyArray_DIM(a, 0)};
    return a;
}
INLINE bool load(PyObject* object, Block& to) {
    PyArrayObject* a = array_of(object, NPY_DOUBLE, 2, WRITABLE);
    if (a) to = {data_of(a), PyArray_DIM(a, 0), PyArray_DIM(a, 1)};
    return a;
}
INLINE bool load(PyObject* object, Cube& to) {
    PyArrayObject* a = array_of(object, NPY_DOUBLE, 3, WRITABLE);
    if (a) to = {data_of(a), PyArray_DIM(a, 0), PyArray_DIM(a, 1), PyArray_DIM(a, 2)};
    return a;
}
INLINE bool load(PyObject* object, Strided& to) {
    PyArrayObject* a = array_of(object, NPY_DOUBLE, 1, 0);
    if (a) to = {PyArray_BYTES(a), PyArray_DIM(a, 0), PyArray_STRIDE(a, 0)};
    return a;
}
INLINE bool load(PyObject* object, StridedBlock& to) {
    PyArrayObject* a = array_of(object, NPY_DOUBLE, 2, 0);
    if (a)
        to = {PyArray_BYTES(a), PyArray_DIM(a, 0), PyArray_DIM(a, 1), PyArray_STRIDE(a, 0),
              PyArray_STRIDE(a, 1)};
    return a;
}
INLINE bool load(PyObject* object, Whole& to) {
    PyArrayObject* a = array_of(object, NPY_INT64, 1, NPY_ARRAY_CARRAY_RO);
    if (a) to = {static_cast<const std::int64_t*>(PyArray_DATA(a)), PyArray_DIM(a, 0)};
    return a;
}

}  // namespace noregret

namespace nanobind::detail {

#define NOREGRET_CASTER(Type, Name)                                          \
    template <>                                                              \
    struct type_caster<noregret::Type> {                                     \
        NB_TYPE_CASTER(noregret::Type, const_name(Name))                     \
        bool from_python(handle src, uint8_t, cleanup_list*) noexcept {      \
            return noregret::load(src.ptr(), value);                         \
        }                                                                    \
        static handle from_cpp(const noregret::Type&, rv_policy, cleanup_list*) noexcept { \
            return {};                                                       \
        }                                                                    \
    };
NOREGRET_CASTER(Row, "Vector")
NOREGRET_CASTER(Block, "Matrix")
NOREGRET_CASTER(Cube, "Matrix")
NOREGRET_CASTER(Strided, "Vector")
NOREGRET_CASTER(StridedBlock, "Matrix")
NOREGRET_CASTER(Whole, "Integers")

}  // namespace nanobind::detail
