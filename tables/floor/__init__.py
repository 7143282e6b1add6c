"""What happens at a table: inputs recorded, rounds, shoes, cash, opening and closing, irregularities."""
