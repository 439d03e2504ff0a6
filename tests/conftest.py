import os

from hypothesis import settings

# A law that holds holds on a busy machine too: no example fails for being slow. In CI the examples are the
# same at every run, so that its verdict is about the change; by hand each run looks at new ones.
settings.register_profile("tutor", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("tutor")
