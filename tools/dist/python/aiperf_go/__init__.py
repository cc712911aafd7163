"""aiperf, the benchmark of inference servers, as a Python package.

The package installs the program ``aiperf``, which ``python -m aiperf_go`` starts, too. :func:`load` reads the folder of a
run into pandas or polars frames:

    import aiperf_go

    run = aiperf_go.load("artifacts/run")
    run.summary()           # a row for each metric
    run.records()           # a row for each request
    run.timeslices()        # a row for each slice of time and metric
    run.server_metrics()    # a row for each series of the servers

The frames are those of pandas, or of polars where pandas is not installed; ``load(folder, frames="polars")`` chooses.
"""

from ._program import find_program, main
from ._runs import Run, load
from ._version import __version__

__all__ = ["Run", "__version__", "find_program", "load", "main"]
