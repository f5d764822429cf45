"""What the figures of agreement mean and what to do about it: signals, verdict, findings."""
