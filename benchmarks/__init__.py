"""Speed and memory, ours beside the alternatives', in one run, as ratios."""
