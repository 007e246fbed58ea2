"""Compares what Delta Spark made of conflict cases with what the cases expect.

usage: verdicts.py CASES OUT.jsonl

CASES is a folder of case files (examples/random_cases.rs writes some), OUT.jsonl has a line per case: name, outcome ("committed", "conflict" or
"error", "not judged"), and conflict, version, actions (the commit as it was read back), message. Exit 1 when one differs or
has no answer.
"""

import collections
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import answers


def conflict(answer):
    """The kind of conflict that Delta Spark means. It reports two writers of one domain in the class of application transactions."""
    if answer["message"].startswith("A conflicting metadata domain"):
        return "DomainMetadataConflict"
    return answer["conflict"]


def conflict_differences(case, answer):
    expect, kind = case["expect"], conflict(answer)
    if kind not in {expect["conflict"], *expect.get("alsoAccepted", [])}:
        return [f"expected {expect['conflict']}, Delta Spark: {kind}"]
    if kind == "DomainMetadataConflict":
        # Its message names the domain only.
        return []
    # The message quotes the information of the winning commit, which was written right behind the version that it read, or nothing where the commit has none.
    named = re.search(r'"readVersion":\s*(\d+)', answer["message"])
    winner = case["winners"][expect["winner"] - case["transaction"]["readVersion"] - 1]
    informed = any("commitInfo" in action for action in winner)
    if informed != (named is not None) or named and int(named.group(1)) + 1 != expect["winner"]:
        return [f"expected winner {expect['winner']}, Delta Spark: {answer['message'][:400]}"]
    return []


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


def differences(case, answer):
    expect = case["expect"]
    if answer["outcome"] == "error":
        return ["error: " + answer.get("error", "")[:200]]
    if answer["outcome"] != expect["outcome"]:
        other = answer.get("conflict") or answer.get("message", "")
        return [f"expected {expect['outcome']} {expect.get('conflict', '')}, Delta Spark: {answer['outcome']} {other}"]
    if expect["outcome"] == "conflict":
        return conflict_differences(case, answer)
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
    folder = pathlib.Path(sys.argv[1])
    found = {answer["name"]: answer for answer in answers.read(sys.argv[2])}
    counts, left, missing, failed = collections.Counter(), collections.Counter(), 0, 0
    for path in sorted(folder.rglob("*.json")):
        case = json.loads(path.read_text())
        answer = found.get(case["name"])
        if answer is None:
            missing += 1
            continue
        if answer["outcome"] == "not judged":
            left[answer["why"]] += 1
            continue
        counts[case["expect"].get("conflict", "committed")] += 1
        wrong = differences(case, answer)
        failed += bool(wrong)
        for text in wrong:
            print(f"{case['name']}: {text}")
    for why, count in sorted(left.items()):
        print(f"{count} not judged: {why}")
    if missing:
        print(f"{missing} have no answer yet")
    print(f"{sum(counts.values())} cases, {failed} differ; " + ", ".join(f"{k} {v}" for k, v in sorted(counts.items())))
    sys.exit(1 if failed or missing else 0)


main()
