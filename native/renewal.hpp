// Rounds in arrays that may be replaced: what must be found unchanged, and how to begin anew.
#pragma once

#include "one_by_one.hpp"

namespace noregret {

// An attribute that must still be what it was when the rounds were made.
class Watch {
  public:
    Watch(nanobind::object owner, const char* name)
        : owner_(owner), name_(nanobind::steal(PyUnicode_InternFromString(name))),
          held_(nanobind::steal(PyObject_GetAttr(owner.ptr(), name_.ptr()))) {
        if (!held_.is_valid()) throw nanobind::python_error();
    }

    bool holds() const {
        nanobind::object now = nanobind::steal(PyObject_GetAttr(owner_.ptr(), name_.ptr()));
        if (!now.is_valid()) PyErr_Clear();
        return now.is(held_);
    }

    nanobind::handle held() const { return held_; }

  private:
    nanobind::object owner_, name_, held_;
};

// A learner whose every call takes its lock: while another call has it, a round must wait.
class Gate {
  public:
    explicit Gate(nanobind::object lock)
        : locked_(nanobind::steal(PyObject_GetAttrString(lock.ptr(), "locked"))) {
        if (!locked_.is_valid()) throw nanobind::python_error();
    }

    bool open() const {
        nanobind::object taken = nanobind::steal(PyObject_CallNoArgs(locked_.ptr()));
        if (!taken.is_valid()) PyErr_Clear();
        return taken.ptr() == Py_False;
    }

  private:
    nanobind::object locked_;
};

// Rounds for as long as a state lives, whatever becomes of its arrays: those given last.
class RenewedRounds : public Rounds {
  public:
    // The rounds from here on; None: every round needs a closer look.
    void renew(nanobind::object rounds) {
        now_ = rounds.is_none() ? nullptr : nanobind::cast<Rounds*>(rounds);
        kept_ = rounds;
    }

    double look(PyObject* x) override { return now_ ? now_->look(x) : NaN; }
    bool takes(double y) override { return now_->takes(y); }
    void settle(double y) override { now_->settle(y); }
    double log_loss(double y) override { return now_->log_loss(y); }
    void forget() override {
        if (now_) now_->forget();
    }
    double look_row(Row x) override { return now_ ? now_->look_row(x) : NaN; }
    Size ends() const override { return now_ ? now_->ends() : 0; }
    void issue(Row ends) override { now_->issue(ends); }

  private:
    nanobind::object kept_;
    Rounds* now_ = nullptr;
};

}  // namespace noregret
