"""What the people who run a site watch: health, metrics, log lines, and the one scheduler."""
