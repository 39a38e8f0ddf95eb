// Who binds what: each file of bindings fills the submodules of its headers.
#pragma once

#include "numpy.hpp"

namespace noregret {

void bind_gaussian(nanobind::module_& m);
void bind_pools(nanobind::module_& m);
void bind_binary(nanobind::module_& m);
void bind_sparse(nanobind::module_& m);
void bind_nets(nanobind::module_& m);
void bind_rows(nanobind::module_& m);
void bind_triangles(nanobind::module_& m);
void bind_tracker(nanobind::module_& m);
void bind_regrets(nanobind::module_& m);
void bind_forest(nanobind::module_& m);
void bind_fleet(nanobind::module_& m);
void bind_rules(nanobind::module_& m);
void bind_team(nanobind::module_& m);
void bind_learner(nanobind::module_& m);  // after bind_rows
void bind_pool_rounds(nanobind::module_& rows);  // called by bind_rows, after their parent
void bind_net_rounds(nanobind::module_& rows);
void bind_forest_rounds(nanobind::module_& rows);
void bind_tracked_rounds(nanobind::module_& rows);

// A constant of a header, under its own name.
#define CONSTANT(module, scope, name) module.attr(#name) = +scope::name  // + makes it a number

}  // namespace noregret
