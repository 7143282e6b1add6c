"""The demo: its history, made by the functions that the floor calls, and dealers who keep its tables busy."""
