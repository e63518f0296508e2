"""What each command of the command line does: options in, words or JSON out. One file is one command."""
