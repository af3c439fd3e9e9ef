"""The command line; its modules import nothing heavy, so that help and mistakes cost no start-up."""
