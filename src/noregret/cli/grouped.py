"""Help whose options stand in groups, the basics first; unknown options with what was meant."""

from __future__ import annotations

import click

__all__ = ["GROUPS", "Grouped"]

GROUPS = {
    "Basics": (
        "target steps features drop model models binary positive out report state proofs printed"
        " quiet help"
    ),
    "Times and series": "time every horizon known intervals lags calendar alone late",
    "How the file is read": (
        "missing missing_words skip_bad skip_lines text delimiter decimal thousands date_format"
        " encoding names format query max_features max_values"
    ),
    "Output and state": "out_format save_every wait",
}
"""Which option stands where; the parameters of the learners come last."""
REST = "Parameters of the learners (each says whose)"


class Grouped(click.Command):
    """A command with many options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section for each group that the command has options of."""
        home = {name: head for head, names in GROUPS.items() for name in names.split()}
        order = {name: k for k, name in enumerate(home)}
        rows: dict[str, list[tuple[str, tuple[str, str]]]] = {head: [] for head in (*GROUPS, REST)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if isinstance(parameter, click.Option) and record and parameter.name:
                rows[home.get(parameter.name, REST)].append((parameter.name, record))
        for head, records in rows.items():
            if records:
                records.sort(key=lambda one: order.get(one[0], len(order)))
                with formatter.section(head):
                    formatter.write_dl([record for _, record in records])
