"""The audit: which questions, in which order, within which time, and the rules that turn tables into verdicts."""
