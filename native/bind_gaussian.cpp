#include "bind.hpp"
#include "dual.hpp"
#include "free.hpp"
#include "rounds.hpp"

namespace nb = nanobind;

namespace noregret {

void bind_gaussian(nb::module_& m) {
    nb::module_ l = m.def_submodule("layout");
    CONSTANT(l, layout, X), CONSTANT(l, layout, V), CONSTANT(l, layout, U);
    CONSTANT(l, layout, MEAN), CONSTANT(l, layout, Y), CONSTANT(l, layout, AT);
    CONSTANT(l, layout, ROWS), CONSTANT(l, layout, FRESH), CONSTANT(l, layout, ROOT);
    CONSTANT(l, layout, NORM), CONSTANT(l, layout, PEAK), CONSTANT(l, layout, DRIFT);
    CONSTANT(l, layout, STATUS), CONSTANT(l, layout, OFFSET), CONSTANT(l, layout, CEILING);
    CONSTANT(l, layout, RULE), CONSTANT(l, layout, LEVEL), CONSTANT(l, layout, CLOSED);
    CONSTANT(l, layout, ROOTED), CONSTANT(l, layout, PASSED), CONSTANT(l, layout, SCALARS);
    CONSTANT(l, layout, FADE);
    CONSTANT(l, layout, LOSS), CONSTANT(l, layout, SQUARE), CONSTANT(l, layout, FIT);
    CONSTANT(l, layout, WEIGHTED), CONSTANT(l, layout, LOGDET), CONSTANT(l, layout, LEVERAGE);
    CONSTANT(l, layout, CHARGE), CONSTANT(l, layout, RELIEF), CONSTANT(l, layout, NORMS);
    CONSTANT(l, layout, WIDEST), CONSTANT(l, layout, LONGEST), CONSTANT(l, layout, ROUNDS);
    CONSTANT(l, layout, JOINT), CONSTANT(l, layout, MISSED), CONSTANT(l, layout, OUTCOMES);
    CONSTANT(l, layout, ENERGY), CONSTANT(l, layout, PROBE), CONSTANT(l, layout, CROSS);
    CONSTANT(l, layout, MARK), CONSTANT(l, layout, WORST), CONSTANT(l, layout, LOGWEIGHT);
    CONSTANT(l, layout, LIGHT);
    CONSTANT(l, layout, OK), CONSTANT(l, layout, WIDTH), CONSTANT(l, layout, LIMIT);
    CONSTANT(l, layout, OUTCOME), CONSTANT(l, layout, BUSY);
    l.attr("OVERFLOW") = int(layout::OVERFLOWS);  // a macro of the C library has this name
    CONSTANT(l, layout, RIDGE), CONSTANT(l, layout, CLIPPED), CONSTANT(l, layout, AAR);
    CONSTANT(l, layout, BAYES), CONSTANT(l, layout, STUDENT), CONSTANT(l, layout, AROUND);
    CONSTANT(l, layout, LAST), CONSTANT(l, layout, MIDRANGE), CONSTANT(l, layout, LOW);
    CONSTANT(l, layout, HIGH);
    CONSTANT(l, layout, LARGEST_FEATURE), CONSTANT(l, layout, LARGEST_OUTCOME);
    CONSTANT(l, layout, EXACT_INTEGER);

    nb::module_ p = m.def_submodule("primal");
    p.def("look", &primal::look);
    p.def("absorb", &primal::absorb);
    p.def("remove", &primal::remove);
    p.def("stream", &small::stream, nb::call_guard<nb::gil_scoped_release>());
    p.def("fading", &fading::stream, nb::call_guard<nb::gil_scoped_release>());
    CONSTANT(p, fading, FAINT);

    nb::module_ d = m.def_submodule("drift");
    d.def("look", &drift::look);
    d.def("absorb", &drift::absorb);
    d.def("diffuse", &drift::diffuse);
    d.def("stream", &drift::stream, nb::call_guard<nb::gil_scoped_release>());

    nb::module_ k = m.def_submodule("dual");
    k.def("extend_in_time", &dual::extend_in_time);
    k.def("beyond", &dual::beyond);
    k.def("multiply", &dual::multiply);
    k.def("pack", &dual::pack);
    k.def("unpack", &dual::unpack);
    k.def("solve", &dual::solve);
    k.def("drop_first", &dual::drop_first);

    nb::module_ b = m.def_submodule("ledger");
    b.def("add", [](Block book, Size row, double term) { ledger::add(book, row, term); });

    nb::module_ a = m.def_submodule("audit");
    CONSTANT(a, audit, CHECKS), CONSTANT(a, audit, EPS), CONSTANT(a, audit, GAMMA);
    CONSTANT(a, audit, LEAST);
    a.def("fixed", &audit::fixed);
    a.def("before_rows", &audit::before_rows, nb::call_guard<nb::gil_scoped_release>());
    a.def("check", &audit::check);
    a.def("probe", [](Row r) {
        for (Size k = 0; k < r.n; ++k) r[k] = PROBES[std::size_t(k % PROBED)];
    });

    nb::module_ r = m.def_submodule("rounds");
    r.def("learn_any", [](Block f, Block w, Block l, Strided x, Row ys) {
        return rounds::learn_any(f, w, l, Copied(x).row(), ys);
    });
    r.def("admit_and_look", [](Block f, Block w, Strided x) {
        return rounds::admit_and_look(f, w, Copied(x).row());
    });
    r.def("look_at", [](Block f, Block w, Strided x, Row seen) {
        return rounds::look_at(f, w, Copied(x).row(), seen);
    });
    r.def("look_rows", &rounds::look_rows, nb::call_guard<nb::gil_scoped_release>());
    r.def("book", [](Block l, Block w, double fit) { return rounds::book(l, w, fit, 0.0); });
    r.def("book_rows", &rounds::book_rows, nb::call_guard<nb::gil_scoped_release>());

    nb::module_ f = m.def_submodule("free_of_prior");
    CONSTANT(f, free_of_prior, LOSS), CONSTANT(f, free_of_prior, FIT), CONSTANT(f, free_of_prior, SHARE);
    CONSTANT(f, free_of_prior, CHARGE), CONSTANT(f, free_of_prior, RELIEF);
    CONSTANT(f, free_of_prior, ENERGY), CONSTANT(f, free_of_prior, ENDS);
    CONSTANT(f, free_of_prior, WIDEST), CONSTANT(f, free_of_prior, ROUNDS);
    CONSTANT(f, free_of_prior, BOOK_ROWS), CONSTANT(f, free_of_prior, SMALL);
    f.def("predict", [](Block factor, Block book, Strided x) {
        return free_of_prior::predict(factor, book, Copied(x).row());
    });
    f.def("replay", &free_of_prior::replay, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace noregret
