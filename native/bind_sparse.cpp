#include "bind.hpp"
#include "sparse.hpp"

namespace nb = nanobind;

namespace noregret {

// The pass of OSLOG along the eigenvectors of D^1/2 M D^1/2, where a is lost beside them.
//
// b is in the range of M, but M alone may not tell where it ends: what comes out must satisfy the
// equation to rounding, or is refused.
static bool rescue(Block gram, Block state, Row x, double y, double a) {
    using namespace sparse;
    Size n = gram.rows;
    npy_intp shape[2] = {n, n};
    nb::object lot = nb::steal(PyArray_SimpleNew(2, shape, NPY_DOUBLE));
    Block S{data_of(reinterpret_cast<PyArrayObject*>(lot.ptr())), n, n};
    Row scales = state[SCALES], fresh = state[NEW];
    for (Size i = 0; i < n; ++i)
        for (Size j = 0; j < n; ++j) {
            S(i, j) = std::sqrt(scales[i]) * std::sqrt(scales[j]) * (gram(i, j) + x[i] * x[j]);
            if (!(std::fabs(S(i, j)) < INF)) return false;
        }
    nb::object sizes_of, axes_of;
    try {
        nb::object found = nb::module_::import_("numpy.linalg").attr("eigh")(lot);
        nb::object contiguous = nb::module_::import_("numpy").attr("ascontiguousarray");
        sizes_of = contiguous(found[0]), axes_of = contiguous(found[1]);
    } catch (nb::python_error& error) {
        if (!error.matches(nb::module_::import_("numpy.linalg").attr("LinAlgError"))) throw;
        return false;
    }
    Row sizes;
    Block axes;
    if (!load(sizes_of.ptr(), sizes) || !load(axes_of.ptr(), axes)) return false;
    for (Size i = 0; i < n; ++i) fresh[i] = 0.0;
    for (Size k = 0; k < n; ++k) {
        if (!(sizes[k] > 1e-15 * double(n) * sizes[n - 1])) continue;
        double along = 0.0;
        for (Size i = 0; i < n; ++i)
            along += axes(i, k) * (std::sqrt(scales[i]) * (state(MOMENT, i) + y * x[i]));
        along /= sizes[k] + a;
        for (Size i = 0; i < n; ++i) fresh[i] += std::sqrt(scales[i]) * axes(i, k) * along;
    }
    bool fits = true;
    for (Size i = 0; i < n; ++i) {  // a D^-1 w + M w = b, to rounding, or not at all
        double rest = state(MOMENT, i) + y * x[i], size = std::fabs(rest);
        for (Size j = 0; j < n; ++j) {
            double term = (gram(i, j) + x[i] * x[j]) * fresh[j];
            rest -= term;
            size += std::fabs(term);
        }
        if (scales[i] > 0.0) {
            rest -= a * (fresh[i] / scales[i]);
            fits = fits && std::fabs(rest) <= 1e-12 * size;  // not so for NaN
        } else {
            fits = fits && fresh[i] == 0.0;
        }
    }
    return fits;
}

void bind_sparse(nb::module_& m) {
    nb::module_ s = m.def_submodule("sparse");
    CONSTANT(s, sparse, MOMENT), CONSTANT(s, sparse, WEIGHTS), CONSTANT(s, sparse, SCALES);
    CONSTANT(s, sparse, NEW), CONSTANT(s, sparse, ROOTS), CONSTANT(s, sparse, LIST);
    CONSTANT(s, sparse, SIDE), CONSTANT(s, sparse, IDLE), CONSTANT(s, sparse, KEPT);
    CONSTANT(s, sparse, STATE_ROWS), CONSTANT(s, sparse, LOSS), CONSTANT(s, sparse, SQUARE);
    CONSTANT(s, sparse, LARGEST_SEEN), CONSTANT(s, sparse, SETTINGS);
    CONSTANT(s, sparse, PASSES), CONSTANT(s, sparse, BOOK_ROWS), CONSTANT(s, sparse, LARGEST);
    CONSTANT(s, sparse, LIVE), CONSTANT(s, sparse, SWEEPS);
    s.def("factor", &sparse::factor);
    s.def("refine", [](Block gram, Block state, Block root, double a, double floor, double passes) {
        return sparse::refine(gram, state, root, a, floor, passes, rescue);
    });
    s.def("learn", [](Block gram, Block state, Block root, Row x, double y, double a, double floor,
                      double passes) {
        return sparse::learn(gram, state, root, x, y, a, floor, passes, rescue);
    });
    s.def("predict", [](Block block, Strided x) { return sparse::predict(block, x); });
    s.def("round_", [](Block block, Block book, Strided x, double y) {
        return sparse::round(block, book, x, y, rescue);
    });
    s.def("replay", [](Block block, Block book, Block xs, Row ys, Row forecasts, Block path) {
        return sparse::replay(block, book, xs, ys, forecasts, path, rescue);
    });
}

}  // namespace noregret
