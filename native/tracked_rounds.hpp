// The rounds of a learner of ours with ends about its forecasts: both learn, or neither.
#pragma once

#include "layout.hpp"
#include "renewal.hpp"
#include "tracker.hpp"

namespace noregret {

class TrackedRounds : public Rounds {
  public:
    // `model` has a `_state` with rounds of its own, `fast`.  `work` is where a Gaussian learner's
    // root spread stands; of others, whose every call takes their lock, it is None: errors are
    // measured in units of 1.
    TrackedRounds(nanobind::object model, nanobind::object work, nanobind::object scale,
                  nanobind::object track, nanobind::object book, nanobind::object ring)
        : state_(model, "_state"), kept_(state_.held().attr("fast")), lock_(model.attr("_lock")),
          things_{work, scale, track, book, ring}, learner_(nanobind::cast<Rounds*>(kept_)),
          gaussian_(!work.is_none()), scale_(array<Block>(scale, "scale")),
          track_(array<Cube>(track, "track")), book_(array<Block>(book, "book")),
          ring_(array<Block>(ring, "ring")) {
        if (gaussian_) work_ = array<Block>(work, "work");
    }

    double look(PyObject* x) override {
        bool free = state_.holds() && (gaussian_ || lock_.open());
        return g_ = free ? learner_->look(x) : NaN;
    }

    // A file may have been changed: windows that end nowhere are no place to write to.
    double look_row(Row x) override {
        for (Size c = 0; c < ring_.rows; ++c) {
            double place = ring_(c, tracker::PLACE);
            if (!(place >= 0.0 && place < double(tracker::LONG))) return g_ = NaN;
        }
        return g_ = learner_->look_row(x);
    }
    void forget() override { learner_->forget(); }
    Size ends() const override { return book_.rows; }
    void issue(Row ends) override { tracker::issue(scale_, track_, book_, g_, root(), ends); }

    bool takes(double y) override {
        return learner_->takes(y) && tracker::fits(scale_, y - g_, root());
    }

    void settle(double y) override {
        tracker::learn(scale_, track_, book_, ring_, y, g_, root(), {nullptr, 0});
        learner_->settle(y);
    }

  private:
    double root() const { return gaussian_ ? work_(layout::AT, layout::ROOT) : 1.0; }

    Watch state_;
    nanobind::object kept_;
    Gate lock_;
    std::vector<nanobind::object> things_;
    Rounds* learner_;
    bool gaussian_;
    Block work_{}, scale_;
    Cube track_;
    Block book_, ring_;
    double g_ = NaN;
};

}  // namespace noregret
