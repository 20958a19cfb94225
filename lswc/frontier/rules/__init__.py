"""Rules of the frontier: the contract, leases and visits, what is visited again, and reports."""
