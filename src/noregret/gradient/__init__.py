"""Learning by gradients that needs no rate: bets on the sign of the next one."""
