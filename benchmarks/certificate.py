"""How far local recodings of Adult are from the best possible: the proven bound, by the seconds that it may take."""

from __future__ import annotations

import time

import shoal
from benchmarks.local_recoding import NINE, adult
from shoal.core.run import Run
from shoal.utility.certificate import certify

if __name__ == "__main__":
    data = adult(NINE)
    for k in (5, 25):
        release = shoal.anonymize(data, shoal.KAnonymity(k=k), seed=1)
        loss = shoal.evaluate(data, release, "lm", baselines=False)["lm"].value
        for seconds in (5, 10, 30):
            began = time.process_time()
            found = certify(data, k, Run(seconds=seconds))
            spent = time.process_time() - began
            print(
                f"k={k:2d} within {seconds:3d} s ({spent:5.1f} of processor time, {found.rounds:2d} rounds): "
                f"loss {loss:.4f}, proven at least {found.bound:.4f}, gap {found.gap(loss):.1%}"
                f"{', finished' * found.finished}",
                flush=True,
            )
