"""Explainers: one file is one method, `explain(subject, batch, target) -> Attribution`, named after its file."""
