"""Rules of the frontier: the contract, leases and visits, what is held, and reports."""
