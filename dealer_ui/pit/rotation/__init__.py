"""The rotation of dealers on screen: line-ups, the next push, moves by touch, and the hours of dealers."""
