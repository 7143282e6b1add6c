"""The pages on which operators set up the site."""
