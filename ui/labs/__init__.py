"""The labs below the examples: choices in, one experiment of core/experiments out, drawn and told.

One file a page; its `show(view)` is the last line of the page's render.
"""

from ui.labs import blend, heads, mask, scale, softmax

__all__ = ["blend", "heads", "mask", "scale", "softmax"]
