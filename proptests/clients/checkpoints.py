#!/usr/bin/env python3
"""Do independent clients read the same rows from a checkpoint that contend wrote as from the table before?

usage: checkpoints.py CONTEND TABLES WORK

CONTEND is the program, TABLES a folder of tables, WORK a folder for their copies. Of every table that contend can give a checkpoint, a
copy gets a classic one, and another a v2 one (after a commit that adds the feature v2Checkpoint, when the table has not got it and may be written). Then
everything else of the log that could rebuild the version is deleted, and delta-rs and DuckDB are asked for rows, their digest and the
live files, before and after. What a client cannot read before, or what a client says it cannot read at all once the feature is there, is
listed, never passed over. One line per table and kind, then the sums. Exit 0 when nothing differs, 1 otherwise.

`prepare` is also what `spark_checkpoints.py` begins with.
"""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

KINDS = ('classic', 'v2')


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True)


def one_line(text):
    return re.sub(r'\s+', ' ', str(text)).strip()[:240]


def live_files(program, directory):
    done = run(program, 'files', directory, '--json')
    return json.loads(done.stdout)['files'] if done.returncode == 0 else None


def leave_only(directory, document):
    """Deletes of the log whatever is not of the checkpoint, its version's commit included in what stays."""
    log = os.path.join(directory, '_delta_log')
    version = '%020d' % document['checkpoint']['version']
    own = {os.path.join(directory, file['path']) for file in document['checkpoint']['files']}
    own |= {os.path.join(log, name) for name in (f'{version}.json', f'{version}.crc', '_last_checkpoint')}
    for folder, _, names in os.walk(log):
        for name in names:
            path = os.path.join(folder, name)
            if path not in own:
                os.remove(path)


def prepare(program, tables, work):
    """Copies of every table with a checkpoint: a list of dicts with `name`, `kind`, `before` (folder) and `after` (folders: one with all that was there,
    one with the checkpoint alone), or with `refused` (why contend does not write one) instead of `after`."""
    plan = []
    for name in sorted(os.listdir(tables)):
        source = os.path.join(tables, name)
        if not os.path.isdir(os.path.join(source, '_delta_log')):
            continue
        for kind in KINDS:
            entry = {'name': name, 'kind': kind, 'before': os.path.abspath(source)}
            plan.append(entry)
            copy = os.path.abspath(os.path.join(work, kind, name))
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(source, copy)
            flags = [] if kind == 'classic' else ['--v2', '--sidecar-actions', '2']
            done = run(program, 'checkpoint', copy, '--json', *flags)
            if kind == 'v2' and done.returncode == 2 and 'needs the table feature v2Checkpoint' in done.stderr:
                entry['feature'] = 'added'
                done = run(program, 'checkpoint', copy, '--json', '--add-feature', *flags)
            if done.returncode != 0:
                entry['refused'] = one_line(done.stderr)
                continue
            alone = os.path.abspath(os.path.join(work, kind + '-alone', name))
            shutil.rmtree(alone, ignore_errors=True)
            shutil.copytree(copy, alone)
            leave_only(alone, json.loads(done.stdout))
            entry['after'] = [copy, alone]
            expected = live_files(program, source)
            entry['same'] = expected is not None and all(live_files(program, after) == expected for after in entry['after'])
    return plan


def ask(client, directory):
    try:
        return client.ask(directory), None
    except Exception as error:
        return None, one_line(f'{type(error).__name__}: {error}')


def main():
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    from clients import CLIENTS
    program, tables, work = sys.argv[1:]
    clients = [client() for client in CLIENTS]
    before, counts = {}, {'same': 0, 'refused': 0, 'unreadable before': 0, 'unreadable with v2Checkpoint': 0, 'different': 0}
    for entry in prepare(program, tables, work):
        label = f'{entry["name"]} {entry["kind"]}' + (' (feature added)' if 'feature' in entry else '')
        if 'refused' in entry:
            counts['refused'] += 1
            print(f'--    {label}: {entry["refused"]}')
            continue
        findings = []
        if not entry['same']:
            findings.append(('different', 'contend itself finds other live files'))
        for client in clients:
            key = (client.name, entry['name'])
            if key not in before:
                before[key] = ask(client, entry['before'])
            was, why = before[key]
            if was is None:
                findings.append(('unreadable before', f'{client.name} does not read it before either: {why}'))
                continue
            was = {key: value for key, value in was.items() if key != 'version'}
            for after, what in zip(entry['after'], ('beside the rest', 'alone')):
                now, why = ask(client, after)
                if now is None:
                    known = 'feature' in entry and 'v2Checkpoint' in why
                    kind = 'unreadable with v2Checkpoint' if known else 'different'
                    findings.append((kind, f'{client.name} fails on the checkpoint {what}: {why}'))
                    continue
                for key, value in was.items():
                    if now[key] != value:
                        findings.append(('different', f'{client.name} has {key} {now[key]} instead of {value}, the checkpoint {what}'))
        kinds = [kind for kind, _ in findings] or ['same']
        for kind in kinds:
            counts[kind] += 1
        mark = 'FAIL' if 'different' in kinds else 'ok' if kinds == ['same'] else 'part'
        print(f'{mark:<4}  {label}: ' + ('; '.join(text for _, text in findings) or 'same in ' + ', '.join(c.name for c in clients)))
    print(', '.join(f'{count} {what}' for what, count in counts.items()))
    return 1 if counts['different'] or not counts['same'] else 0


if __name__ == '__main__':
    sys.exit(main())
