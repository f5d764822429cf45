"""Files -> storage, all or nothing, with a report of every bad line."""
