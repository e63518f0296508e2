"""A process ends with the one that started it, also when that one is killed and cannot tell it.

Without this an orphan would audit to the end, for hours perhaps, and write where the same audit, run again, is writing
too. Workers of the local engine need it not: they see the end of their pipe.
"""

import multiprocessing
import os
import threading
import time

EVERY = 0.5  # seconds between two looks at the parent
NAME = "ends with its parent"


def end_with(parent: int) -> None:
    """From now on this process ends when the process `parent`, which started it, does. Asked again, it does no more."""
    if not any(thread.name == NAME for thread in threading.enumerate()):
        threading.Thread(target=_end_after, args=(parent,), name=NAME, daemon=True).start()


def _end_after(parent: int) -> None:
    """Wait for the parent's end, then leave at once: nobody waits for a result, and checkpoints are written whole."""
    if os.name == "posix":
        while os.getppid() == parent:  # a process whose parent has ended gets another
            time.sleep(EVERY)
        os._exit(1)
    started_by = multiprocessing.parent_process()
    if started_by is not None:  # elsewhere a parent keeps its number for ever, but can be waited for
        started_by.join()
        os._exit(1)
