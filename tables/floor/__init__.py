"""The floor: inputs at tables and their recording; rounds, shoes, cash, opening and closing, irregularities."""
