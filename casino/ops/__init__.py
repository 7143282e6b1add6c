"""Operation of a site: health, metrics, log formats, and the single scheduler."""
