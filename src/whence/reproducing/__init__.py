"""A paper's tables and figures again: its study file, what is run for it, ours beside theirs, the ledger."""
