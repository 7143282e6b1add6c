"""The vocabulary of the log: one file a matter, one frozen struct a kind of entry. `catalog` lists them."""
