"""Records on the pit's screens: disputes, corrections, search of rounds and of the log, bookmarks."""
