"""The games as pure state machines: standard library and msgspec only, no clock, no chance, no I/O."""
