#include "bind.hpp"
#include "triangles.hpp"

namespace nb = nanobind;

namespace noregret {

void bind_triangles(nb::module_& m) {
    nb::module_ t = m.def_submodule("triangles");
    t.def("solve_lower", [](StridedBlock L, Block B) { triangles::solve_lower(L, B); });
    t.def("solve_upper", [](StridedBlock U, Block B) { triangles::solve_upper(U, B); });
    t.def("factor", [](Block A) { return triangles::factor(A); });
    t.def("reflect", [](Block R, Block C, Block T) { triangles::reflect(R, C, T); });
}

}  // namespace noregret
