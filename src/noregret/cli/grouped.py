"""Help whose options stand in groups, the basics first; unknown options with what was meant."""

from __future__ import annotations

import click

from noregret.cli.folding import folded

__all__ = ["GROUPS", "Grouped"]

GROUPS = {
    "Basics": (
        "target key steps forecasts features drop model models peers binary positive out report"
        " state proofs printed quiet help _click_default_help"
    ),
    "Times and series": "time every horizon known intervals lags calendar alone late",
    "How the file is read": (
        "missing missing_words skip_bad skip_lines sheet text delimiter decimal thousands"
        " date_format encoding names format query max_features max_values"
    ),
    "Output and state": "out_format append bounds save_every wait",
}
"""Which option stands where; the parameters of the learners come last."""
REST = "Parameters of the learners (each says whose)"


class Grouped(click.Command):
    """A command with many options."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write what is below the options in as many columns as there are."""
        if self.epilog:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(folded(self.epilog, formatter.width - 2))

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
