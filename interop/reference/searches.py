"""Reads search_checkpoint.json of searches with the original's own reader, and what tiers found with its data models.

    searches.py DIR ...    artifact directories of searches
"""

import json
import pathlib
import sys

from aiperf.orchestrator.search_planner.multi_tier_models import TierResult
from aiperf.orchestrator.search_planner.recovery import read_search_checkpoint

runs = tiers = 0
for name in sys.argv[1:]:
    folder = pathlib.Path(name)
    history = json.loads((folder / "search_history.json").read_text(encoding="utf-8"))
    read = read_search_checkpoint(folder)
    assert [values for values, _ in read] == [it["variation_values"] for it in history["iterations"]], f"{name}: other points"
    for _, results in read:
        assert results and all(r.success and r.summary_metrics["request_count"].avg > 0 for r in results), f"{name}: a run failed"
        runs += len(results)
    for result in history.get("tier_results", []):
        TierResult.model_validate(result)
        tiers += 1
print(f"searches: the original reads {len(sys.argv) - 1} checkpoints with {runs} runs, and {tiers} tiers")
