"""What may be bet at a table and when: plans, their activation, emergency limits, and the grid."""
