"""An interrupt waits until machine code is ready.

LLVM calls Python back, to ask for code that is kept and to hand over what it compiled. Python cannot raise out of such
a call: an interrupt there was forgotten, the kernel had no code, and the process crashed.
"""

import signal
from contextlib import contextmanager
from functools import cache
from threading import current_thread, main_thread


@contextmanager
def postponed():
    """Lets an interrupt, and a request to end that is handled like one, come after what is done meanwhile."""
    came = []
    numbers = (signal.SIGINT, signal.SIGTERM) if current_thread() is main_thread() else ()
    handlers = {number: handler for number in numbers if callable(handler := signal.getsignal(number))}
    try:
        for number in handlers:
            signal.signal(number, lambda number, _: came.append(number))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


@cache
def wait_for_code(codegen):
    """Makes interrupts wait while a compiler makes code ready to run."""
    engine = getattr(codegen, "_engine", None)
    if hasattr(engine, "finalize_object"):
        engine.finalize_object = postponed()(engine.finalize_object)
