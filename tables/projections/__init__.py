"""Every row beside the log is what the log says: one module a kind of row, and one comparison (``comparing``)."""
