"""Effects, intervals and verdicts computed from the experiments' tables, one file per experiment. No torch."""
