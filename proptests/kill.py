#!/usr/bin/env python3
"""Kills contend at random points, again and again over one table, and looks whether the table holds what contend said.

usage: kill.py CONTEND [--kills N] [--seed S] [--work DIR] [--python PYTHON]

CONTEND is the program. Each round runs `kill.toml` on threads over the table and sends SIGKILL after a random part of the time that a whole run
takes; a run that ends before that does not count. After each kill, from the bytes of the log, without contend:
  - versions are contiguous and every line is JSON; no transaction id is there twice;
  - a commit that contend acknowledged (`--log`) is there once, at the version it said; one that it said to have lost is not there;
and contend opens the table. Each next run has to work on with what it finds, and every tenth is let run to its end: it has to pass. At the end delta-rs and DuckDB read
every version as contend does (clients/compare.py with PYTHON, which has clients/requirements.txt; without PYTHON that is left out, and said).

Prints the seed and a line of figures; exit 1 when something is wrong, with the table's folder.
"""
import argparse
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SCENARIO = os.path.join(HERE, 'kill.toml')


class Wrong(Exception):
    """What the table holds is not what contend said."""


class Table:
    def __init__(self, program, work):
        self.program, self.work = program, work
        self.directory = os.path.join(work, 'store', 't')
        self.said = os.path.join(work, 'calls.jsonl')
        self.command = [program, 'run', SCENARIO, '--store', os.path.join(work, 'store'), '--log', self.said,
                        '--set', 'store.existing=continue']

    def run(self):
        """A run to its end; how long it took."""
        started = time.monotonic()
        done = subprocess.run(self.command, capture_output=True, text=True)
        if done.returncode != 0 or 'verdict: pass' not in done.stdout:
            raise Wrong(f'a run over what is there ends with {done.returncode}: {done.stdout[-2000:]}{done.stderr}')
        return time.monotonic() - started

    def kill(self, after):
        """A run that is killed after so many seconds; whether it was still running then."""
        running = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            out, err = running.communicate(timeout=after)
        except subprocess.TimeoutExpired:
            running.kill()
            running.communicate()
            # It may have ended in between.
            return running.returncode == -9
        if running.returncode != 0:
            raise Wrong(f'a run over what is there ends with {running.returncode}: {out[-2000:]}{err}')
        return False

    def versions(self):
        """Per version of the log the transaction id."""
        folder = os.path.join(self.directory, '_delta_log')
        names = sorted(name for name in os.listdir(folder) if re.fullmatch(r'\d{20}\.json', name)) if os.path.isdir(folder) else []
        found = []
        for expected, name in enumerate(names):
            if int(name[:20]) != expected:
                raise Wrong(f'version {expected} is missing, and {name} is there')
            with open(os.path.join(folder, name), encoding='utf-8') as commit:
                text = commit.read()
            try:
                actions = [json.loads(line) for line in text.splitlines()]
            except json.JSONDecodeError as error:
                raise Wrong(f'{name} is torn: {error}')
            infos = [action['commitInfo'] for action in actions if 'commitInfo' in action]
            if len(infos) != 1 or not text.endswith('\n'):
                raise Wrong(f'{name} is torn: {text!r}')
            found.append(infos[0]['txnId'])
        return found

    def calls(self):
        """What contend said of its calls."""
        if not os.path.exists(self.said):
            return []
        with open(self.said, encoding='utf-8') as lines:
            return [json.loads(line) for line in lines]

    def check(self):
        """Holds the log against what was said; gives the number of versions and of acknowledged commits."""
        versions, calls = self.versions(), self.calls()
        twice = [txn_id for txn_id, count in collections.Counter(versions).items() if count > 1]
        if twice:
            raise Wrong(f'in the log twice: {twice}')
        acknowledged = 0
        for call in calls:
            at = versions.index(call['txn_id']) if call['txn_id'] in versions else None
            if call['end'] == 'committed':
                acknowledged += 1
                if at != call['version']:
                    raise Wrong(f'acknowledged as version {call["version"]}, found at {at}: {call}')
            elif call['end'] != 'unknown' and at is not None:
                raise Wrong(f'said not to have committed, found at {at}: {call}')
        if versions:
            done = subprocess.run([self.program, 'digest', self.directory], capture_output=True, text=True)
            if done.returncode != 0:
                raise Wrong(f'contend does not open the table: {done.stderr}')
            newest = json.loads(done.stdout)['version']
            if newest != len(versions) - 1:
                raise Wrong(f'contend reads version {newest}, the log has {len(versions)} commits')
        return len(versions), acknowledged

    def leftovers(self):
        """Temporary files, and data files that no commit names."""
        temporary, data = 0, set()
        for folder, _, names in os.walk(self.directory):
            for name in names:
                temporary += name.endswith('.tmp')
                if name.endswith('.parquet'):
                    data.add(name)
        folder = os.path.join(self.directory, '_delta_log')
        for name in os.listdir(folder):
            if name.endswith('.json'):
                with open(os.path.join(folder, name), encoding='utf-8') as commit:
                    for line in commit:
                        add = json.loads(line).get('add')
                        if add:
                            data.discard(os.path.basename(add['path']))
        return temporary, len(data)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('program')
    parser.add_argument('--kills', type=int, default=100)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--work')
    parser.add_argument('--python')
    arguments = parser.parse_args()
    work = arguments.work or tempfile.mkdtemp(prefix='contend-kill-')
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    print(f'seed {arguments.seed}, {arguments.kills} kills')
    table = Table(os.path.realpath(arguments.program), work)
    # How long a run takes, measured over another table, so that the first kills can hit the setup.
    whole = Table(table.program, os.path.join(work, 'measure'))
    os.makedirs(whole.work)
    lasts = max(whole.run() for _ in range(3))
    luck = random.Random(arguments.seed)
    kills = early = moved = half = 0
    started = time.monotonic()
    try:
        before = (0, 0)
        while kills < arguments.kills:
            if not table.kill(luck.uniform(0, 1.1 * lasts)):
                early += 1
                if early > 20 + 3 * arguments.kills:
                    raise Wrong(f'only {kills} of {kills + early} runs could be killed')
                before = table.check()
                continue
            kills += 1
            after = table.check()
            moved += after[0] > before[0]
            # Commits that are there and that nobody was told of: the kill came in between.
            half += (after[0] - before[0]) - (after[1] - before[1])
            before = after
            if kills % 10 == 0:
                lasts = max(table.run(), lasts / 2)
                before = table.check()
        table.run()
        versions, acknowledged = table.check()
    except Wrong as wrong:
        print(f'FAIL after {kills} kills: {wrong}\nthe table: {table.directory}')
        return 1
    temporary, orphans = table.leftovers()
    print(f'{kills} kills in {time.monotonic() - started:.0f} s ({early} runs ended before): {moved} killed runs had committed, {half} commits were '
          f'made and not acknowledged; {versions} versions, {acknowledged} acknowledged, each there once; left behind: {temporary} temporary files, '
          f'{orphans} data files')
    if arguments.python is None:
        print('not compared with other clients: no --python')
        return 0
    compared = subprocess.run([arguments.python, os.path.join(HERE, 'clients', 'compare.py'), table.program, table.directory],
                              capture_output=True, text=True)
    lines = compared.stdout.splitlines()
    print('\n'.join([line for line in lines if line.startswith('FAIL')] + lines[-1:]) + compared.stderr)
    if compared.returncode == 0 and arguments.work is None:
        shutil.rmtree(work)
    return compared.returncode


if __name__ == '__main__':
    sys.exit(main())
