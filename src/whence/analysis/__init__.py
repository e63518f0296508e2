"""What tables say: effects, intervals and verdicts of the experiments, each file named as its experiment. No torch."""
