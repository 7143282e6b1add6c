"""The past of a demo's house, made by the functions that the floor calls, and dealers who keep its present moving."""
