"""K-LMS-NET on real data: against the best single width in hindsight, and its posterior."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from data import load
from page import Section, verdict

import noregret as nr

FILES = ("airfoil", "concrete", "power_plant", "abalone", "wine_red")
SHOWN = ("airfoil", "power_plant", "abalone")
SCALE, ALL = 10.0, 192


def scaled(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and outcomes in [0, 1]; rows in an order drawn once."""
    X, y = load(folder, name)
    order = np.random.default_rng(0).permutation(len(y))
    width = np.ptp(X, axis=0)
    X = (X - X.min(axis=0)) / np.where(width > 0.0, width, 1.0)
    return X[order], ((y - y.min()) / np.ptp(y))[order]


def section(folder: Path) -> Section:
    table = Section(
        "Real data",
        f"""
Inputs and outcomes scaled to [0, 1], rows in an order drawn once: `KLMSNet((0, 1), scale=10)`,
its other settings at their defaults (eta = 1/2, 64 widths). The best single width is found by
trying {ALL} of them on the whole file in hindsight. Cumulative square loss; in brackets, how much
more than the best width. *substitution* merges by the Aggregating Algorithm's substitution.
""",
        ["file", "rounds", "best width", "K-LMS-NET", "within 2 %", "", "substitution", "error_"],
    )
    for name in FILES:
        print(name, flush=True)
        X, y = scaled(folder, name)
        every = nr.KLMSNet((0.0, 1.0), scale=SCALE, nodes=ALL, audit=False)
        every.replay(X, y)
        best = every.losses_.min()
        alpha = every.widths_[every.losses_.argmin()]
        net = nr.KLMSNet((0.0, 1.0), scale=SCALE)
        loss = float(net.replay(X, y).loss.sum())
        other = nr.KLMSNet((0.0, 1.0), scale=SCALE, substitution=True, audit=False)
        substituted = float(other.replay(X, y).loss.sum())
        assert net.certificate().holds
        assert other.certificate().holds
        _, met = verdict(loss / best, 1.02, at_most=True)
        table.rows.append(
            [
                *(name, f"{len(y):,}", f"{best:.3f} (alpha {alpha:.3f})"),
                *(f"{loss:.3f} ({loss / best - 1.0:+.1%})", "<= 1.02", met),
                f"{substituted:.3f} ({substituted / best - 1.0:+.1%})",
                f"{net.error_:.0e}",
            ]
        )
    return table


def figure(folder: Path, path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    mpl.rcParams.update({"svg.hashsalt": "noregret", "font.size": 9})
    drawn, axes = plt.subplots(1, 3, figsize=(10.5, 3.3), layout="constrained", sharey=True)
    for name, ax in zip(SHOWN, axes):
        X, y = scaled(folder, name)
        net = nr.KLMSNet((0.0, 1.0), scale=SCALE, audit=False, nodes=128)
        stops = np.unique(np.geomspace(1, len(y), 60).astype(int))
        bands, begin = [], 0
        for stop in stops:
            net.replay(X[begin:stop], y[begin:stop])
            begin = stop
            share = np.cumsum(net.weights_) - 0.5 * net.weights_
            bands.append(np.interp([0.05, 0.25, 0.5, 0.75, 0.95], share, net.widths_))
        low, below, middle, above, high = np.maximum(np.array(bands).T, 1e-3)
        ax.fill_between(stops, low, high, color="tab:blue", alpha=0.2, lw=0, label="90 %")
        ax.fill_between(stops, below, above, color="tab:blue", alpha=0.4, lw=0, label="50 %")
        ax.plot(stops, middle, color="tab:blue", label="median")
        ax.axhline(
            net.widths_[net.losses_.argmin()],
            color="0.3",
            linestyle="--",
            label="best in hindsight",
        )
        ax.set(xscale="log", yscale="log", xlabel="round", title=name, ylim=(0.02, 1.1))
    axes[0].set_ylabel("width alpha")
    axes[-1].legend(loc="lower left", frameon=False)
    drawn.savefig(path, metadata={"Date": None})
