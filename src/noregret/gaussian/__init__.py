"""Ridge, Bayesian ridge and AAR: core x rule x ledger."""
