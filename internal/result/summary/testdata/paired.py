"""Writes paired.json: McNemar's exact test and the score interval of a difference of paired shares.

    pip install scipy==1.17.1 statsmodels==0.15.0
    python3 testdata/paired.py > testdata/paired.json

p is that of statsmodels, and must be that of SciPy's binomial test. The interval (Tango 1998) is found here from its
definition: the share of lost answers that is most likely under a difference is found by SciPy's minimiser, and the
differences at which the score equals the normal quantile by its root finder.
"""
import json
import math
import sys

import numpy
import scipy
import statsmodels
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import binomtest, norm
from statsmodels.stats.contingency_tables import mcnemar


def likeliest(lost, won, n, d):
    """The share of lost answers, if the difference of shares won less lost is d."""
    low, high = max(0.0, -d), (1 - d) / 2

    def surprise(q):
        parts = ((lost, q), (won, q + d), (n - lost - won, 1 - 2 * q - d))
        return -sum(k * math.log(max(p, 1e-300)) for k, p in parts if k)

    found = minimize_scalar(surprise, bounds=(low, high), method="bounded", options={"xatol": 1e-14, "maxiter": 2000})
    return min((low, found.x, high), key=surprise)


def score(lost, won, n, d):
    q = likeliest(lost, won, n, d)
    variance = n * (2 * q + d * (1 - d))
    above = won - lost - n * d
    if variance <= 1e-18:
        return math.copysign(1e9, above) if above else 0.0
    return above / math.sqrt(variance)


def interval(lost, won, n, confidence):
    z, at = norm.ppf((1 + confidence) / 2), (won - lost) / n
    edge = 1 - 1e-12
    low = brentq(lambda d: score(lost, won, n, d) - z, -edge, at, xtol=1e-13) if at > -edge else -1.0
    high = brentq(lambda d: score(lost, won, n, d) + z, at, edge, xtol=1e-13) if at < edge else 1.0
    return low, high


cases = []
for n, lost, won in [(500, 12, 3), (500, 3, 12), (40, 0, 0), (40, 9, 0), (40, 0, 1), (1000, 43, 25), (14042, 310, 402),
                     (10, 5, 5), (30, 4, 9), (198, 17, 17), (25, 1, 0), (100, 60, 20)]:
    table = numpy.array([[n - lost - won, lost], [won, 0]])
    p = mcnemar(table, exact=True).pvalue
    other = binomtest(min(lost, won), lost + won).pvalue if lost + won else 1.0
    if lost + won == 0:
        p = 1.0
    assert abs(p - other) < 1e-12, (lost, won, p, other)
    for confidence in (0.9, 0.95, 0.99):
        low, high = interval(lost, won, n, confidence)
        cases.append({"n": n, "lost": lost, "won": won, "confidence": confidence, "p": float(p), "low": low, "high": high})
versions = f"SciPy {scipy.__version__}, statsmodels {statsmodels.__version__}, CPython {sys.version.split()[0]}"
json.dump({"by": versions, "cases": cases}, sys.stdout)
print()
