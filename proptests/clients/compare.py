#!/usr/bin/env python3
"""Do independent clients read the same table as contend, at every version?

usage: compare.py CONTEND TABLE...

CONTEND is the program, TABLE the folder of a table whose log begins at version 0. Of every version the digest of the rows, the number
of rows and the number of live files are compared with delta-rs and DuckDB, and that a client without a version asked finds the same
newest one. One line per version, then `N passed, M failed`. Exit 0 when all agree, 1 when something differs, 2 when contend
itself cannot read the table.
"""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from clients import CLIENTS


def contend(program, directory, version=None):
    command = [program, 'digest', directory]
    if version is not None:
        command += ['--version-as-of', str(version)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        fail_hard(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()}")
    answer = json.loads(done.stdout)
    return {'version': answer['version'], 'files': answer['active_files'], 'rows': answer['rows'], 'sha': answer['rows_sha256']}


def fail_hard(message):
    print(message, file=sys.stderr)
    sys.exit(2)




def differences(ours, client, directory, version):
    """Texts that say what a client sees differently."""
    try:
        theirs = client.ask(directory, version)
    except Exception as error:
        text = re.sub(r'\s+', ' ', f'{type(error).__name__}: {error}')
        return [f'{client.name} fails: {text[:300]}']
    return [f'{client.name} has {key} {value}, contend {ours[key]}' for key, value in theirs.items() if value != ours[key]]


def main():
    if len(sys.argv) < 3:
        fail_hard(__doc__)
    program, tables = sys.argv[1], [os.path.abspath(table) for table in sys.argv[2:]]
    clients = [client() for client in CLIENTS]
    names = ', '.join(client.name for client in clients)
    passed = failed = 0
    for table in tables:
        newest = contend(program, table)
        # The newest one twice: by its number, and without one.
        for version in list(range(newest['version'] + 1)) + [None]:
            ours = contend(program, table, version)
            wrong = [text for client in clients for text in differences(ours, client, table, version)]
            label = f'newest ({ours["version"]})' if version is None else f'version {version}'
            facts = f'{ours["rows"]} rows, {ours["files"]} files, sha256 {ours["sha"][:12]}'
            print(f'{"FAIL" if wrong else "ok"}  {os.path.basename(table)} {label}: {facts}; ' + ('; '.join(wrong) or f'same in {names}'))
            passed, failed = (passed, failed + 1) if wrong else (passed + 1, failed)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
