"""The site's events as one ordered feed for API clients: read by cursor, or sent by signed webhooks."""
