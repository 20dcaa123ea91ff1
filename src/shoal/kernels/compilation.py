"""What goes with compiling kernels: the decorator that makes them, how long it took in this process, and a word when it
begins.

The word is a record of the logger `shoal`, so that a run that is the first on a machine does not seem to hang.
"""

import gc
import logging
import time
from contextlib import suppress
from threading import Lock, get_ident

from numba import njit, types
from numba.core.event import Listener, register

from shoal.kernels import caching

COMPILING = "compiling what this run needs, which can take half a minute; later runs find it compiled"

_logger = logging.getLogger("shoal")
_lock = Lock()
_open: dict[int, tuple[int, float]] = {}
_total = 0.0
_told = False
_collecting = True


def _wide(kind):
    kind = types.unliteral(kind)
    return types.int64 if kind in (types.int8, types.int16, types.int32) else kind


def _holds_arrays(kind):
    return isinstance(kind, types.Array) or (isinstance(kind, types.BaseTuple) and any(map(_holds_arrays, kind)))


_plain = njit(lambda: None)
_known = getattr(getattr(_plain, "targetdescr", None), "options", None)


def _as_far_as_known(**options):
    """Private options, as far as numba has them."""
    return {name: value for name, value in options.items() if hasattr(_known, name)}


def kernel(function=None, **options):
    """Makes a function a kernel: compiled when it is called first with some types, and kept (`caching`).

    It runs without Python's lock. Options are `borrowing` and those of `numba.njit`.

    Numba counts who holds an array, also where a function is called with one or takes a row out of one. Threads that
    work on the same arrays wait for one another at every count, which can take longer than all the rest. A `borrowing`
    function counts nothing: its arrays are those of its caller, it can neither make nor return any, and it calls only
    kernels that do as it does.
    """
    return _made(kernel, _Kernel, function, options, _as_far_as_known(no_cfunc_wrapper=True))


def inner(function=None, **options):
    """Makes a function a part of kernels: only they call it. Without a way in from Python it compiles in three quarters
    of the time."""
    return _made(inner, _Inner, function, options, _as_far_as_known(no_cfunc_wrapper=True, no_cpython_wrapper=True))


def _made(decorator, kind, function, options, own):
    if function is None:
        return lambda function: decorator(function, **options)
    given = dict(options)
    counting = _as_far_as_known(_nrt=not given.pop("borrowing", False))  # unsaid, it would be as in the first caller
    dispatcher = njit(nogil=True, **own, **counting, **given)(function)
    with suppress(TypeError):  # numba has another kind of dispatcher: it compiles more, and gives the same
        dispatcher.__class__ = kind
    caching.attach(dispatcher)
    return dispatcher


class _Kernel(type(_plain)):
    """Takes a whole number that another kernel gives it for an int64, whether it is an int32 or a constant: otherwise
    every mixture of them would be compiled on its own."""

    __slots__ = ()

    def get_call_template(self, args, *others):
        return super().get_call_template(tuple(_wide(kind) for kind in args), *others)

    def add_overload(self, compiled):
        if self.targetoptions.get("_nrt") is False and _holds_arrays(compiled.signature.return_type):
            raise TypeError(f"{self.__name__} borrows its arrays: it can return none")
        super().add_overload(compiled)


class _Inner(_Kernel):
    __slots__ = ()

    def __call__(self, *arguments):
        raise TypeError(f"{self.__name__} is a part of kernels: only they can call it")


class _Clock(Listener):
    """Adds up the outermost compilations of each thread, and tells the first one. What is cached compiles nothing, and
    a user's own functions are not counted.

    No garbage is collected meanwhile: the compiler makes millions of objects, and looking through them again and again
    takes a fifth of its time."""

    def on_start(self, event):
        global _told, _collecting
        if get_ident() not in _open and not event.data["dispatcher"].py_func.__module__.startswith(f"{__package__}."):
            return
        depth, began = _open.get(get_ident(), (0, time.monotonic()))
        _open[get_ident()] = (depth + 1, began)
        with _lock:
            first, _told = not _told, True
            if len(_open) == 1 and depth == 0:
                _collecting = gc.isenabled()
                gc.disable()
        if first:
            _logger.info(COMPILING)

    def on_end(self, event):
        global _total
        if get_ident() not in _open:
            return
        depth, began = _open.pop(get_ident())
        if depth > 1:
            _open[get_ident()] = (depth - 1, began)
            return
        with _lock:
            _total += time.monotonic() - began
            if not _open and _collecting:
                gc.enable()


def seconds_compiling() -> float:
    """The seconds that this process has spent compiling."""
    return _total


register("numba:compile", _Clock())
