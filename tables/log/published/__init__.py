"""The event types of the feed, grouped by subject as the kinds of entry are. Pure: they read an entry and its round."""
