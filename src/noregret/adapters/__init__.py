"""Learners in other libraries' clothes; each module needs an extra and nobody inside imports it."""
