"""The host side of a launch: compile, check arguments, share the blocks among workers, and report."""
