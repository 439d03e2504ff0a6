"""The rooms of the Teach page, one file each; `show(view)` draws it."""
