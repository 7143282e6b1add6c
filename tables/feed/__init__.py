"""What happened in the house as one ordered feed of events, for programs: by cursor, and by signed webhooks."""
