"""Three readings of a paper's model each: its text, its authors' code, and a corrected one."""
