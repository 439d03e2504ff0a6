"""The labs: why each step is there, measured.

One room a subject, one function a lab: choices and a seed in, a frozen record of what was measured
out. Each record tells its `caption` (what to look at, with the numbers of this very run) and its
`note` (the condition under which the claim holds). Nothing here knows the screen.
"""
