"""What the commands do, over the managers; the command line imports this only once a command runs."""
