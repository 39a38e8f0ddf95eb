"""Binary outcomes: Bayesian averaging, MAP and improper learning."""
