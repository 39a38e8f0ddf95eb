// noregret._native: one submodule per header, its constants and functions by the same names.
#define NOREGRET_IMPORTS_NUMPY
#include "numpy.hpp"

#include "bind.hpp"

NB_MODULE(_native, m) {
    if (_import_array() < 0) throw nanobind::python_error();
    // What is alive when the interpreter ends is in the caller's own globals: no word about it.
    nanobind::set_leak_warnings(false);
    m.doc() = "Compiled rounds: one submodule per idea; see native/ for the equations.";
    noregret::bind_gaussian(m);
    noregret::bind_pools(m);
    noregret::bind_binary(m);
    noregret::bind_sparse(m);
    noregret::bind_nets(m);
    noregret::bind_rows(m);
    noregret::bind_triangles(m);
    noregret::bind_tracker(m);
    noregret::bind_regrets(m);
    noregret::bind_forest(m);
    noregret::bind_fleet(m);
    noregret::bind_rules(m);
    noregret::bind_team(m);
    noregret::bind_learner(m);
}
