"""Watch the workers of a Dask cluster while a class is graded: a silent one is given up, and each that is lost is named at the end.

A worker whose process or machine hangs keeps its connection, so Dask waits for what it holds: five to ten minutes as it is installed,
until `distributed.scheduler.worker-ttl` has passed. Here it is given up as soon as its heartbeats have been missing for `SILENT` seconds.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

SILENT = 30.0          # seconds; workers send a heartbeat every half a second, up to 200 of them every two seconds
LOOKS = 1.0            # seconds between two looks
ENDING = 5.0           # seconds for a silent worker's nanny to end it; a nanny that is silent as well is not waited for


class Silence:
    """How long each worker has sent no heartbeat, by this machine's clock alone: those of two machines may differ.

    >>> silence = Silence()
    >>> [silence.seconds({"near": 7.0, "far": heard}, now) for heard, now in ((7.1, 0.0), (7.5, 1.0), (7.5, 4.0))]
    [{'near': 0.0, 'far': 0.0}, {'near': 1.0, 'far': 0.0}, {'near': 4.0, 'far': 3.0}]
    """

    def __init__(self) -> None:
        self.since: dict[str, tuple[float, float]] = {}

    def seconds(self, heard: Mapping[str, float], now: float) -> dict[str, float]:
        """Return worker -> seconds since what the scheduler says of its last heartbeat changed.

        Parameters
        ----------
        heard
            Worker -> time of its last heartbeat, by the scheduler's clock.
        now
            Seconds, by this machine's.
        """
        self.since = {worker: self.since[worker] if self.since.get(worker, (None,))[0] == last else (last, now)
                      for worker, last in heard.items()}
        return {worker: now - begin for worker, (_, begin) in self.since.items()}


class Watch:
    """A thread that looks at the workers of a client's cluster, and what it found.

    Parameters
    ----------
    client : distributed.Client
    say
        Gets a sentence when no worker is left.
    """

    def __init__(self, client: Any, say: Callable[[str], None]):
        self.client, self.say = client, say
        self.given_up: dict[str, float] = {}              # worker -> seconds for which it had been silent
        self.held: dict[str, int] = {}                    # worker that is gone -> submissions that it held
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._look, name="watch over Dask's workers", daemon=True)

    def start(self) -> None:
        """Begin."""
        self.client.subscribe_topic("all", self._hear)
        self.thread.start()

    def stop(self) -> list[str]:
        """End; return a sentence for each worker that was lost."""
        self.over.set()
        self.thread.join(2 * ENDING)                      # it ends with this process, should the scheduler hang
        return [_told(worker, self.given_up.get(worker), self.held.get(worker)) for worker in self.given_up | self.held]

    def _hear(self, event):
        """Take note of what the scheduler says of a worker that is gone; Dask's own thread calls this."""
        message = event[1]
        if isinstance(message, dict) and message.get("action") == "remove-worker" and not message["expected"]:
            self.held[message["worker"]] = len(self.client.futures.keys() & set(message["processing-tasks"]))

    def _look(self):
        silence, met, alone = Silence(), time.monotonic(), False
        while not self.over.wait(LOOKS):
            with contextlib.suppress(OSError):            # the scheduler is away; the client waits for it, and says so
                heard = {worker: found["last_seen"] for worker, found in self.client.scheduler_info()["workers"].items()}
                now = time.monotonic()
                met, alone = (now, False) if heard else (met, alone)
                if now - met > SILENT and not alone:
                    alone = True
                    self.say("the Dask cluster has no worker any more: start another one, and grading goes on; "
                             "Ctrl-C ends it and keeps what is finished")
                for worker, seconds in silence.seconds(heard, now).items():
                    if seconds > SILENT:
                        self._give_up(worker, seconds)

    def _give_up(self, worker, seconds):
        """Have a worker ended and started anew by its nanny, or taken out of the cluster where none answers."""
        self.given_up[worker] = seconds
        self.client.sync(self.client.scheduler.restart_workers, workers=[worker], timeout=ENDING, wait_for_workers=False,
                         on_error="return", stimulus_id=f"silent-for-{seconds:.0f}-s")


def _told(worker, silent, held):
    what = {None: "what it held", 1: "the submission that it held"}.get(held, f"the {held} submissions that it held")
    why = "was lost" if silent is None else f"sent nothing for {silent:.0f} s and was given up"
    return f"worker {worker} {why}; {what} went to others"


@contextlib.contextmanager
def watched(client: Any, say: Callable[[str], None] = print) -> Iterator[None]:
    """Watch the workers of a Dask client meanwhile; in the end, say which were lost.

    Parameters
    ----------
    client : distributed.Client
    say
        Gets each sentence.
    """
    watch = Watch(client, say)
    watch.start()
    try:
        yield
    finally:
        for sentence in watch.stop():
            say(sentence)
