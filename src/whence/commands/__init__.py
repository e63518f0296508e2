"""What each command of the command line does: options in, words or JSON out. One file is one command."""

COMMANDS = {
    "audit": "test whether a model's attention explains its predictions; writes a report (default: two demo models)",
    "explain": "score the tokens of a text by several methods, side by side",
    "serve": "look at attention in a browser, change it and audit it: the workbench",
    "run": "run one experiment: a table, a figure, a verdict",
    "reproduce": "run a paper's experiments and compare the published numbers with ours",
    "study": "run a grid of models, data, seeds and experiments, on this machine or a cluster",
    "compare": "compare the runs of a study: verdicts and pooled effects, as one page",
    "train": "train a reference model on a corpus",
    "data": "list, fetch or show corpora",
    "list": "list experiments, explainers, corpora, models and studies",
    "annotate": "run a human evaluation: prepare, serve, export, import, simulate, analyse",
    "calibrate": "audit models whose answers are known, and count right and wrong verdicts",
    "report": "write the report of an audit again from its saved tables",
    "doctor": "print versions, devices and data folders, and what is missing for what",
    "completion": "print a completion script for bash, zsh or fish",
}
