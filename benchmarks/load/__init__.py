"""Many readers at once: a client that speaks Streamlit's own protocol, and what it measures.

    make load        1, 10, 30 and 50 sessions on one core, beside the floor app; writes docs/measured/load.md
    make soak        20 sessions for half an hour; writes docs/measured/soak.md

messages.py puts a reply together as the browser does, widgets.py knows what each widget sends, session.py is
one open page, pupil.py is what its reader does, numbers.py holds the statistics, report.py the tables, and
process.py asks Linux about the server.
"""
