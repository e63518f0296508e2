"""Many calls, run somewhere: on this machine, on a Ray cluster, by Slurm."""
