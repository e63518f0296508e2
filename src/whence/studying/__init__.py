"""Studies: many models × data × seeds × options, as a graph of tasks that any engine runs."""
