"""Yes-or-no streams: Bayesian averaging, MAP and improper learning."""
