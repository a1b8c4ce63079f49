# SPDX-License-Identifier: MIT
"""explain_sums.py FILE: causes and paths of `tacho explain --json` add up to their intervals."""
import json
import sys


def leaves(nodes, begin, end, where):
    """The sum of leaves; nodes follow each other without a gap from begin to end."""
    total, at = 0, begin
    for node in nodes:
        assert node["begin"] == at, f"{where}: a gap before {node}"
        assert node["end"] >= node["begin"], f"{where}: ends before it begins: {node}"
        at = node["end"]
        if "path" in node:
            total += leaves(node["path"], node["begin"], node["end"], node["what"])
        else:
            assert node.get("cause"), f"{where}: a leaf without a cause: {node}"
            total += node["end"] - node["begin"]
    assert at == end, f"{where}: ends at {at}, not at {end}"
    return total


with open(sys.argv[1], encoding="utf-8") as f:
    result = json.load(f)
assert result["intervals"]
for i in result["intervals"]:
    whole = i["end"] - i["begin"]
    assert sum(c["ns"] for c in i["causes"]) == whole, "the causes do not add up"
    assert leaves(i["path"], i["begin"], i["end"], i["name"]) == whole, "the path does not add up"
