"""The queue of disputes: which pairs wait for a lead, why, in which order, and before whom each of them is open."""
