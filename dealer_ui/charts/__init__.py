"""The house's pictures as numbers: one scale, one axis, one plot for all of them. Pure; the templates draw them."""
