"""An app as it is, with its CPU time noted: `streamlit run timed_app.py -- tutor|floor LOG`.

One line for each run of the script: the whole server process's CPU seconds when the run began, and
those that the run's own thread took. See rerun_cpu.py, which reads them.
"""

import sys
import time
from pathlib import Path

app, log = sys.argv[1], Path(sys.argv[2])
process, thread = time.process_time(), time.thread_time()
try:
    if app == "tutor":
        from app import main

        main()
    else:
        exec(compile(Path(__file__).with_name("floor_app.py").read_text(), "floor_app.py", "exec"), {})
finally:  # st.rerun and st.stop leave by raising
    with log.open("a") as lines:
        lines.write(f"{process} {time.thread_time() - thread}\n")
