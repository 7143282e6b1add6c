"""Alerts that a floor needs: by which rules they are raised, who hears of them, and how they leave the house."""
