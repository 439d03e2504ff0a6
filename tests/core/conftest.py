from hypothesis import settings

# A law that holds holds on a busy machine too: no example fails for being slow.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
