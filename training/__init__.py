"""How the tiny model's weights were made. PyTorch is needed here, and nowhere in the app."""
