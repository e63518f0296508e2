"""Speed and memory compared with the alternatives, in one run, as ratios."""
