#include "bind.hpp"
#include "margin.hpp"
#include "newton.hpp"
#include "particles.hpp"

namespace nb = nanobind;

namespace noregret {

void bind_binary(nb::module_& m) {
    nb::module_ f = m.def_submodule("families");
    CONSTANT(f, families, LOGISTIC), CONSTANT(f, families, PROBIT);
    f.def("loss_and_derivatives", [](int family, double z) {
        families::Bent b = families::bend(family, z);
        return nb::make_tuple(b.loss, b.slope, b.curve);
    }, nb::sig("def loss_and_derivatives(family: int, z: float, /) -> tuple[float, float, float]"));

    nb::module_ a = m.def_submodule("account");
    CONSTANT(a, account, LOSS), CONSTANT(a, account, BRIER), CONSTANT(a, account, ROUNDS);
    CONSTANT(a, account, LONGEST), CONSTANT(a, account, EXCESS), CONSTANT(a, account, PRICE);
    CONSTANT(a, account, LOGDET), CONSTANT(a, account, BOOK_ROWS);
    a.def("note", &account::note);

    nb::module_ g = m.def_submodule("margin");
    CONSTANT(g, margin, ADF), CONSTANT(g, margin, LAPLACE), CONSTANT(g, margin, AIOLI);
    g.def("predict", [](int kind, int family, Block factor, Block work, Strided x, double ceiling) {
        return margin::predict(kind, family, factor, work, Copied(x).row(), ceiling);
    });
    g.def("price_of", [](int kind, int family, Block factor, Block work, Strided x, double ceiling,
                         double sign) {
        return margin::price_of(kind, family, factor, work, Copied(x).row(), ceiling, sign);
    });
    g.def("learn", [](int kind, int family, double bound, Block factor, Block work, Block book,
                      Block scatter, Strided x, double ceiling, double sign) {
        return margin::learn(kind, family, bound, factor, work, book, scatter, Copied(x).row(),
                             ceiling, sign);
    });
    g.def("replay", &margin::replay, nb::call_guard<nb::gil_scoped_release>());
    g.def("smooth_logistic", [](double mu, double q) {
        families::Bent b = margin::smooth_logistic(mu, q);
        return nb::make_tuple(b.loss, b.slope, b.curve);
    }, nb::sig("def smooth_logistic(mu: float, q: float, /) -> tuple[float, float, float]"));

    nb::module_ n = m.def_submodule("newton");
    n.def("width", &newton::width);
    n.def("mode", [](int family, Block rows, double a, Row w, Block curve, Block work, Block kept,
                     Size known) {
        newton::Found found = newton::mode(family, rows, a, w, curve, work, kept, known);
        return nb::make_tuple(found.F, found.log_det, found.gradient, found.steps);
    }, nb::sig("def mode(family: int, rows: Matrix, a: float, w: Vector, curve: Matrix, "
               "work: Matrix, kept: Matrix, known: int, /) -> tuple[float, float, float, float]"));

    nb::module_ p = m.def_submodule("particles");
    p.def("price", &particles::price);
    p.def("weigh", &particles::weigh);
    p.def("bearable", &particles::bearable);
    p.def("move", &particles::move);
    p.def("heights", &particles::heights);
}

}  // namespace noregret
