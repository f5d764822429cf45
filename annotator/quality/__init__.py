"""Quality control: a third expert's blind check of a sample of settled grades."""
