"""Pictures for the README, and the script that takes them."""
