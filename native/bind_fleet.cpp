// Fleets: the slots of many learners, and the keys that they belong to.
#include "bind.hpp"
#include "desks.hpp"
#include "keys.hpp"

namespace nb = nanobind;

namespace noregret {

static nb::object whole_numbers(Size n, std::int64_t*& data) {
    npy_intp size = n;
    nb::object found = nb::steal(PyArray_SimpleNew(1, &size, NPY_INT64));
    data = static_cast<std::int64_t*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(found.ptr())));
    return found;
}

static std::string_view text_of(nb::handle text) {
    Py_ssize_t size;
    const char* data = PyUnicode_CheckExact(text.ptr()) ? PyUnicode_AsUTF8AndSize(text.ptr(), &size) : nullptr;
    if (!data) {
        PyErr_Clear();
        throw nb::type_error("a key is no text");
    }
    return {data, std::size_t(size)};
}

// Texts lie anywhere in memory: ask for one before its turn.
static void ask_ahead(const nb::list& all, Size t) {
    constexpr Size AHEAD = 16;
    if (t + AHEAD < Size(all.size())) __builtin_prefetch(PyList_GET_ITEM(all.ptr(), t + AHEAD));
}

// Whether all are texts that an index can hold, and nothing but texts.
static bool all_texts(nb::list all) {
    for (Size t = 0, n = Size(all.size()); t < n; ++t) {
        ask_ahead(all, t);
        PyObject* text = PyList_GET_ITEM(all.ptr(), t);
        if (!PyUnicode_CheckExact(text)) return false;
        if (PyUnicode_IS_ASCII(text) && !(PyUnicode_GET_LENGTH(text) >> keys::LONGEST)) continue;
        Py_ssize_t size;
        if (!PyUnicode_AsUTF8AndSize(text, &size)) return PyErr_Clear(), false;
        if (size >> keys::LONGEST) return false;
    }
    return true;
}

using Numbers = keys::Index<keys::Numbers>;
using Texts = keys::Index<keys::Texts>;

// The slot of every key, of which there are n: `key(t)`, asked for once, and its place in the table before its turn.
template <class Index, class Read>
static nb::object slots_of(Size n, Read key, Index& index, bool give) {
    constexpr Size AHEAD = 8;
    typename Index::Key held[AHEAD];
    std::uint64_t hashes[AHEAD];
    std::int64_t* slots;
    nb::object found = whole_numbers(n, slots);
    for (Size t = 0; t < n + AHEAD; ++t) {
        Size s = t % AHEAD;
        if (t >= AHEAD)
            slots[t - AHEAD] = give ? index.give(held[s], hashes[s]) : index.find(held[s], hashes[s]);
        if (t >= n) continue;
        held[s] = key(t), hashes[s] = keys::hashed(held[s]);
        index.prefetch(hashes[s]);
    }
    return found;
}

// What each slot's key is spread by, without a sign.
template <class Index>
static nb::object hashes(const Index& index, Whole slots) {
    check(index, slots);
    std::int64_t* to;
    nb::object found = whole_numbers(slots.n, to);
    for (Size t = 0; t < slots.n; ++t)
        to[t] = std::int64_t(keys::hashed(index.at(keys::Slot(slots[t]))) >> 1);
    return found;
}

static nb::object slots_of(nb::list all, keys::Index<keys::Texts>& index, bool give) {
    Size n = Size(all.size());
    return slots_of(n, [&](Size t) { return ask_ahead(all, t), text_of(all[std::size_t(t)]); }, index, give);
}

// Slots that have a key, in their order.
template <class Index>
static nb::object taken(const Index& index) {
    std::vector<bool> all = index.taken();
    std::int64_t* slots;
    nb::object found = whole_numbers(Size(index.size()), slots);
    for (std::size_t s = 0; s < all.size(); ++s)
        if (all[s]) *slots++ = std::int64_t(s);
    return found;
}

template <class Index>
static void drop(Index& index, Whole slots) {
    for (Size t = 0; t < slots.n; ++t) index.drop(keys::Slot(slots[t]));
}

template <class Index>
static void check(const Index& index, Whole slots) {
    for (Size t = 0; t < slots.n; ++t)
        if (slots[t] < 0 || std::size_t(slots[t]) >= index.slots()) throw nb::index_error("no such slot");
}

static void within(const fleet::Store& all, Whole where, Size least) {
    for (Size t = 0; t < where.n; ++t)
        if (where[t] < least || where[t] >= Size(all.blocks.size()) * fleet::BLOCK)
            throw nb::index_error("no such slot");
}

// Slots in arrays that Python owns.
struct HeldSlots {
    fleet::Slots all;
    std::vector<nb::object> arrays;

    HeldSlots(Size n, bool drifts, int rule, double level, double drift, double prior_var, Size offset,
              Row fresh, Whole runs, Size wide) {
        all.plan = {n, drifts, rule, level, drift, prior_var, offset};
        Size numbers = n * (n + 1) + 2 * (layout::OUTCOMES + 1) + 2;
        if (fresh.n != numbers) throw nb::value_error("a state of another size");
        all.fresh.assign(fresh.p, fresh.p + fresh.n);
        all.wide = wide;
        for (Size k = 0; k + 2 < runs.n; k += 3) {
            fleet::Run run{runs[k], runs[k + 1], runs[k + 2]};
            if (run.at < 0 || run.to < 0 || run.length < 0 || run.at + run.length >= wide || run.to + run.length > numbers)
                throw nb::value_error("a run beyond its slot");
            all.runs.push_back(run);
        }
    }
};

// The same of learners of other kinds: `desks` are pairs of rounds and the arrays of their state.
struct HeldDesks {
    fleet::Desks all;
    std::vector<nb::object> arrays;

    HeldDesks(nb::list desks, Row fresh, Whole pieces) {
        all.wide = fresh.n;
        all.fresh.assign(fresh.p, fresh.p + fresh.n);
        std::vector<Size> sizes;
        for (nb::handle desk : desks) {
            fleet::Desks::State state{nb::cast<Rounds*>(desk[0]), {}};
            sizes.clear();
            for (nb::handle given : nb::list(desk[1])) {
                Row numbers;
                if (!load(given.ptr(), numbers)) throw nb::type_error("an array of another kind");
                state.arrays.push_back(numbers.p);
                sizes.push_back(numbers.n);
            }
            arrays.push_back(nb::borrow(desk));
            all.states.push_back(state);
        }
        if (all.states.empty()) throw nb::value_error("no desk");
        for (Size k = 0; k + 3 < pieces.n; k += 4) {
            fleet::Piece p{pieces[k], pieces[k + 1], pieces[k + 2], pieces[k + 3]};
            if (p.at < 0 || p.array < 0 || p.to < 0 || p.length < 0 || p.at + p.length >= all.wide ||
                p.array >= Size(sizes.size()) || p.to + p.length > sizes[std::size_t(p.array)])
                throw nb::value_error("a piece beyond its slot");
            all.pieces.push_back(p);
        }
    }
};

// What all stores of slots do.
template <class Held>
static nb::class_<Held> slots_class(nb::module_& m, const char* name) {
    return nb::class_<Held>(m, name)
        .def("add", [](Held& self, nb::object block) {
            Block found;
            if (!load(block.ptr(), found) || found.rows != fleet::BLOCK || found.cols != self.all.wide)
                throw nb::type_error("a block of another shape");
            self.arrays.push_back(block);
            self.all.blocks.push_back(found.p);
        }, nb::sig("def add(self, block: Matrix, /) -> None"))
        .def("clear", [](const Held& self, Whole where) {
            within(self.all, where, 0);
            for (Size t = 0; t < where.n; ++t) self.all.clear(where[t]);
        })
        .def("take", [](const Held& self, Whole where, Block to) {
            within(self.all, where, 0);
            if (to.rows != where.n || to.cols != self.all.wide) throw nb::value_error("another shape");
            nb::gil_scoped_release free;
            for (Size t = 0; t < where.n; ++t)
                std::memcpy(to[t].p, self.all.slot(where[t]), std::size_t(to.cols) * sizeof(double));
        })
        .def("put", [](const Held& self, Whole where, Block from) {
            within(self.all, where, 0);
            if (from.rows != where.n || from.cols != self.all.wide) throw nb::value_error("another shape");
            nb::gil_scoped_release free;
            for (Size t = 0; t < where.n; ++t)
                std::memcpy(self.all.slot(where[t]), from[t].p, std::size_t(from.cols) * sizeof(double));
        });
}

void bind_fleet(nb::module_& m) {
    nb::module_ f = m.def_submodule("fleet");
    CONSTANT(f, fleet, BLOCK), CONSTANT(f, fleet, PREDICT), CONSTANT(f, fleet, LEARN);
    f.def("all_texts", &all_texts, nb::sig("def all_texts(keys: list[object], /) -> bool"));

    nb::class_<Numbers>(f, "Numbers")
        .def(nb::init<>())
        .def("find", [](Numbers& index, Whole all) {
            return slots_of(all.n, [&](Size t) { return all[t]; }, index, false);
        }, nb::sig("def find(self, keys: Integers, /) -> Integers"))
        .def("give", [](Numbers& index, Whole all) {
            return slots_of(all.n, [&](Size t) { return all[t]; }, index, true);
        }, nb::sig("def give(self, keys: Integers, /) -> Integers"))
        .def("keys", [](const Numbers& index, Whole slots) {
            check(index, slots);
            std::int64_t* to;
            nb::object found = whole_numbers(slots.n, to);
            for (Size t = 0; t < slots.n; ++t) to[t] = index.at(keys::Slot(slots[t]));
            return found;
        }, nb::sig("def keys(self, slots: Integers, /) -> Integers"))
        .def("hashes", &hashes<Numbers>, nb::sig("def hashes(self, slots: Integers, /) -> Integers"))
        .def("drop", [](Numbers& index, Whole slots) { check(index, slots), drop(index, slots); })
        .def("taken", &taken<Numbers>, nb::sig("def taken(self) -> Integers"))
        .def("size", &Numbers::size)
        .def("room", &Numbers::room);

    nb::class_<Texts>(f, "Texts")
        .def(nb::init<>())
        .def("find", [](Texts& index, nb::list all) {
            return slots_of(all, index, false);
        }, nb::sig("def find(self, keys: list[str], /) -> Integers"))
        .def("give", [](Texts& index, nb::list all) {
            return slots_of(all, index, true);
        }, nb::sig("def give(self, keys: list[str], /) -> Integers"))
        .def("keys", [](const Texts& index, Whole slots) {
            check(index, slots);
            nb::list found;
            for (Size t = 0; t < slots.n; ++t) {
                std::string_view text = index.at(keys::Slot(slots[t]));
                found.append(nb::steal(PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), nullptr)));
            }
            return found;
        }, nb::sig("def keys(self, slots: Integers, /) -> list[str]"))
        .def("hashes", &hashes<Texts>, nb::sig("def hashes(self, slots: Integers, /) -> Integers"))
        .def("drop", [](Texts& index, Whole slots) { check(index, slots), drop(index, slots); })
        .def("taken", &taken<Texts>, nb::sig("def taken(self) -> Integers"))
        .def("size", &Texts::size)
        .def("room", &Texts::room);

    slots_class<HeldSlots>(f, "Slots")
        .def(nb::init<Size, bool, int, double, double, double, Size, Row, Whole, Size>())
        .def("run", [](const HeldSlots& self, int what, Whole where, Block xs, Row ys, Row beyond,
                       Row forecasts, double now, Size threads) {
            within(self.all, where, what == fleet::LEARN ? 0 : -1);
            if (xs.rows != where.n || forecasts.n != where.n || (what == fleet::LEARN && ys.n != where.n) ||
                (beyond.n && beyond.n != where.n) || xs.cols + self.all.plan.offset != self.all.plan.n)
                throw nb::value_error("arrays of different lengths");
            nb::gil_scoped_release free;
            return self.all.run(what, where, xs, ys, beyond, forecasts, now, threads);
        });
    slots_class<HeldDesks>(f, "Desks")
        .def(nb::init<nb::list, Row, Whole>(),
             nb::sig("def __init__(self, desks: list[object], fresh: Vector, pieces: Integers, /) -> None"))
        .def("run", [](const HeldDesks& self, int what, Whole where, Block xs, Row ys, Row forecasts, Block ends,
                       double now) {
            within(self.all, where, what == fleet::LEARN ? 0 : -1);
            if (xs.rows != where.n || forecasts.n != where.n || (what == fleet::LEARN && ys.n != where.n) ||
                (ends.cols && (ends.rows != where.n || ends.cols != self.all.states[0].rounds->ends())))
                throw nb::value_error("arrays of different lengths");
            nb::gil_scoped_release free;
            return self.all.run(what, where, xs, ys, forecasts, ends, now);
        });
}

}  // namespace noregret
