"""Whole journeys in a real Chromium, and what it takes to run them."""
