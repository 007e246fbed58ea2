"""Compares what Delta Spark made of conflict cases with what the cases expect.

usage: verdicts.py CASES OUT.jsonl

CASES is a folder of case files (examples/random_cases.rs writes some), OUT.jsonl has a line per case: name, outcome ("committed", "conflict" or
"error", "not judged"), and conflict, version, actions (the commit as it was read back), message. Exit 1 when a difference has no explanation.
"""

import collections
import json
import pathlib
import re
import sys

# What the two may call one conflict.
NAMES = {"DomainMetadataConflict": {"DomainMetadataConflict", "ConcurrentTransaction"}}


def accepted(expect):
    names = {expect["conflict"], *expect.get("alsoAccepted", [])}
    return set().union(*(NAMES.get(name, {name}) for name in names))


def facts(actions):
    """Row ids of a commit, in the words of a case."""
    found = {"baseRowId": {}, "defaultRowCommitVersion": {}}
    for action in actions:
        for key in ("remove", "add"):
            if key in action:
                for fact in ("baseRowId", "defaultRowCommitVersion"):
                    if fact in action[key]:
                        found[fact][action[key]["path"]] = action[key][fact]
        domain = action.get("domainMetadata", {})
        if domain.get("domain") == "delta.rowTracking":
            found["rowIdHighWaterMark"] = json.loads(domain["configuration"])["rowIdHighWaterMark"]
        info = action.get("commitInfo", {})
        if "inCommitTimestamp" in info:
            found["inCommitTimestamp"] = info["inCommitTimestamp"]
        if "metaData" in action:
            found["configuration"] = action["metaData"]["configuration"]
    return found


def differences(expect, answer):
    if answer["outcome"] == "error":
        return ["error: " + answer.get("error", "")[:200]]
    if answer["outcome"] != expect["outcome"]:
        other = answer.get("conflict") or answer.get("message", "")
        return [f"expected {expect['outcome']} {expect.get('conflict', '')}, Delta Spark: {answer['outcome']} {other}"]
    if expect["outcome"] == "conflict":
        if answer["conflict"] not in accepted(expect):
            return [f"expected {expect['conflict']}, Delta Spark: {answer['conflict']}"]
        version = re.search(r"version (\d+)|\"version\":\s*(\d+)", answer.get("message", ""))
        if version and int(version.group(1) or version.group(2)) != expect["winner"]:
            return [f"expected winner {expect['winner']}, Delta Spark: {answer['message'][:200]}"]
        return []
    found, wrong = facts(answer.get("actions", [])), []
    if expect.get("version") not in (None, answer["version"]):
        wrong.append(f"expected version {expect['version']}, Delta Spark: {answer['version']}")
    for fact, value in expect.get("rebased", {}).items():
        pairs = value.items() if isinstance(value, dict) else [(None, value)]
        for path, expected in pairs:
            actual = found.get(fact, {}).get(path) if path is not None else found.get(fact)
            if fact in ("removedDomains", "absentAdds"):
                continue
            if actual != expected:
                wrong.append(f"{fact} {path or ''}: expected {expected}, Delta Spark: {actual}")
    return wrong


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    folder, answers = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    found = {}
    for line in answers.read_text().splitlines():
        try:
            answer = json.loads(line)
            found[answer["name"]] = answer
        except ValueError:
            # A line that was torn when a run was cut off.
            pass
    counts, left, failed = collections.Counter(), collections.Counter(), 0
    for path in sorted(folder.rglob("*.json")):
        case = json.loads(path.read_text())
        answer = found.get(case["name"])
        if answer is None:
            print(f"{case['name']}: Delta Spark has not judged it")
            failed += 1
            continue
        if answer["outcome"] == "not judged":
            left[answer["why"]] += 1
            continue
        counts[case["expect"].get("conflict", "committed")] += 1
        wrong = differences(case["expect"], answer)
        failed += bool(wrong)
        for text in wrong:
            print(f"{case['name']}: {text}")
    for why, count in sorted(left.items()):
        print(f"{count} not judged: {why}")
    print(f"{sum(counts.values())} cases, {failed} differ; " + ", ".join(f"{k} {v}" for k, v in sorted(counts.items())))
    sys.exit(1 if failed else 0)


main()
