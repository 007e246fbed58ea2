#!/usr/bin/env python3
"""What the released Delta Spark makes of conflict cases: its own OptimisticTransaction and ConflictChecker judge them.

usage: spark_judge.py SPARK_JAR CASES OUT.jsonl [NAME ...]

To be run by hand with a Python that has pyspark 4.0, on a machine with Java 17; SPARK_JAR is a jar of Delta Lake 4.0 for Scala 2.13 with what it needs inside.
CASES is a folder of case files. A line of OUT.jsonl has the name of a case, its outcome ("committed", "conflict", "error" or "not judged"), and what belongs to it. Cases
whose answer is there already are not asked again, so that a run that was cut off is continued by the same command. `verdicts.py` compares.

The way of driving a transaction (register reads, put the winners, commit) is that of the cross-check scripts that the project's cases were made with, our own work.
"""
import json
import os
import re
import shutil
import sys
import tempfile
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import answers
from spark_checkpoints import session

# Operations that declare a change of data; any of them serves for the others.
CHANGES = {'WRITE', 'STREAMING UPDATE', 'DELETE', 'TRUNCATE', 'CONVERT', 'MERGE', 'UPDATE'}
# What Delta Spark 4.0.0 does not have.
NEWER = {'ROW TRACKING UNBACKFILL'}
# Its class is no ConcurrentModificationException.
FEATURE_DROP = 'DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL'


class Judge:
    def __init__(self, jar):
        self.tables = tempfile.mkdtemp(prefix='tables')
        self.spark = session(jar, **{
            'spark.sql.shuffle.partitions': '1',
            'spark.databricks.delta.snapshotPartitions': '1',
            # Logs of a few lines: compiling queries takes far longer than running them.
            'spark.sql.adaptive.enabled': 'false',
            'spark.sql.codegen.wholeStage': 'false',
            'spark.sql.codegen.factoryMode': 'NO_CODEGEN',
        })
        self.spark.conf.set('spark.databricks.delta.conflictDetection.partitionLevelConcurrency.widenNonDeterministicPredicates', 'on')
        self.jvm, self.js = self.spark._jvm, self.spark._jsparkSession
        self.none = self.jvm.scala.Option.empty()
        self.action = self.single('actions.Action')
        self.utils = self.single('DeltaTableUtils')

    def is_gone(self):
        try:
            return self.spark.sparkContext._jsc.sc().isStopped()
        except Exception:
            return True

    def class_of(self, name):
        loader = self.jvm.java.lang.Thread.currentThread().getContextClassLoader()
        return loader.loadClass('org.apache.spark.sql.delta.' + name)

    def single(self, name):
        return self.class_of(name + '$').getField('MODULE$').get(None)

    def new(self, name, *arguments):
        for constructor in self.class_of(name).getConstructors():
            if constructor.getParameterCount() == len(arguments):
                array = self.spark.sparkContext._gateway.new_array(self.jvm.java.lang.Object, len(arguments))
                for index, argument in enumerate(arguments):
                    array[index] = argument
                return constructor.newInstance(array)
        raise ValueError(f'{name} takes other arguments')

    def sequence(self, items):
        found = self.jvm.java.util.ArrayList()
        for item in items:
            found.add(item)
        return self.jvm.scala.jdk.javaapi.CollectionConverters.asScala(found).toSeq()

    def operation(self, case, actions):
        name, boolean = case['transaction']['operation'], self.jvm.java.lang.Boolean
        if name == 'REPLACE TABLE':
            metadata = next(action for action in actions if action.getClass().getSimpleName() == 'Metadata')
            flags = (boolean(True), boolean(False), boolean(False))
            return self.new('DeltaOperations$ReplaceTable', metadata, *flags, self.none, self.none)
        if name == 'ROW TRACKING BACKFILL':
            return self.new('DeltaOperations$RowTrackingBackfill', self.jvm.java.lang.Integer(0))
        if name == 'DROP FEATURE':
            feature, = features(case['setup']) - features([case['transaction']['actions']])
            return self.new('DeltaOperations$DropTableFeature', feature, boolean(False))
        if name in CHANGES:
            return self.new('DeltaOperations$Truncate')
        return self.single('DeltaOperations$ManualUpdate')

    def conjuncts(self, path, predicate):
        """As the table resolves them where it can, else as they were parsed."""
        text = re.sub(r'\bt\.', '', predicate).replace("''", "\\'")
        text = re.sub(r"(\w+) BETWEEN (DATE '[^']*'|[0-9]+) AND", r'\1 >= \2 AND \1 <=', text)
        try:
            condition = self.spark.read.format('delta').load(path).filter(text)._jdf.queryExecution().analyzed().condition()
        except Exception:
            condition = self.js.sessionState().sqlParser().parseExpression(text)
        found = self.utils.splitConjunctivePredicates(condition)
        return [found.apply(index) for index in range(found.size())]

    def read(self, transaction, path, case):
        reads = case['transaction']['reads']
        for conjuncts in [self.conjuncts(path, predicate) for predicate in reads['predicates']]:
            if 'files' in reads:
                transaction.trackReadPredicates(self.sequence(conjuncts), False, True)
            else:
                transaction.filterFiles(self.sequence(conjuncts), False)
        if 'files' in reads:
            files = transaction.snapshot().allFiles().collect()
            transaction.trackFilesRead(self.sequence([file for file in files if file.path() in reads['files']]))
        if reads['wholeTable']:
            transaction.readWholeTable()
        for app_id in reads['appIds']:
            transaction.txnVersion(app_id)

    def actions(self, case):
        """The actions as a writer hands them to Delta Spark, which numbers rows and upgrades protocols by itself."""
        own, mark = case['transaction']['actions'], -1
        for action in (action for commit in case['setup'] for action in commit):
            if is_mark(action):
                mark = json.loads(action['domainMetadata']['configuration'])['rowIdHighWaterMark']
        for action in json.loads(json.dumps(own)):
            if is_mark(action) or 'protocol' in action and case['setup'] and any('metaData' in other for other in own):
                continue
            if 'add' in action and action['add'].get('baseRowId', -1) > mark:
                del action['add']['baseRowId']
                action['add'].pop('defaultRowCommitVersion', None)
            yield self.action.fromJson(json.dumps(action))

    def commit(self, transaction, case):
        actions = list(self.actions(case))
        operation = self.operation(case, actions)
        if case['transaction']['operation'] not in ('RESTORE', 'CLONE'):
            return transaction.commit(self.sequence(actions), operation)
        kept = [action for action in actions if action.getClass().getSimpleName() not in ('Metadata', 'Protocol')]
        empty = self.jvm.PythonUtils.toScalaMap({})
        return transaction.commitLarge(self.js, self.sequence(kept).iterator(), self.none, operation, empty, empty)._1()

    def judge(self, case):
        if case['transaction']['operation'] in NEWER:
            return {'outcome': 'not judged', 'why': f'{case["transaction"]["operation"]} is newer than Delta Spark 4.0.0'}
        path = os.path.join(self.tables, case['name'])
        log = os.path.join(path, '_delta_log')
        os.makedirs(log)
        try:
            for version, actions in enumerate(case['setup']):
                put(log, version, actions)
            transaction = self.jvm.org.apache.spark.sql.delta.DeltaLog.forTable(self.js, path).startTransaction()
            self.read(transaction, path, case)
            for version, actions in enumerate(case['winners'], len(case['setup'])):
                put(log, version, actions)
            try:
                version = self.commit(transaction, case)
            except Exception as error:
                return self.failure(error)
            with open(os.path.join(log, '%020d.json' % version)) as file:
                return {'outcome': 'committed', 'version': version, 'actions': [json.loads(line) for line in file]}
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def failure(self, error):
        cause = getattr(error, 'java_exception', None)
        if cause is None:
            raise error
        while cause.getClass().getName().startswith('org.apache.spark.SparkException') and cause.getCause() is not None:
            cause = cause.getCause()
        name, message = cause.getClass().getName(), cause.getMessage() or ''
        if FEATURE_DROP in message:
            return {'outcome': 'conflict', 'conflict': 'FeatureDropConflict', 'message': message[:700]}
        if name.startswith('io.delta.exceptions.') or 'Concurrent' in name:
            return {'outcome': 'conflict', 'conflict': name.split('.')[-1].replace('Exception', ''), 'message': message[:700]}
        trace = cause.getStackTrace()
        return {'outcome': 'error', 'error': f'{name}: {message[:500]}', 'at': [trace[index].toString() for index in range(min(6, len(trace)))]}


def is_mark(action):
    return action.get('domainMetadata', {}).get('domain') == 'delta.rowTracking'


def features(commits):
    """Features that the last protocol of some commits lists."""
    protocols = [action['protocol'] for commit in commits for action in commit if 'protocol' in action]
    return set(protocols[-1].get('writerFeatures', []))


def put(log, version, actions):
    with open(os.path.join(log, '%020d.json' % version), 'w') as file:
        for action in actions:
            file.write(json.dumps(action) + '\n')


def answered(path):
    # What failed is asked again: of several answers the last one counts.
    last = {answer['name']: answer for answer in answers.read(path)}
    return {name for name, answer in last.items() if answer['outcome'] != 'error'}


def main():
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    jar, folder, out, *names = sys.argv[1:]
    done = answered(out)
    judge = Judge(jar)
    with open(out, 'a') as file:
        file.write('\n')
        for path in sorted(os.listdir(folder)):
            if not path.endswith('.json'):
                continue
            with open(os.path.join(folder, path)) as source:
                case = json.load(source)
            if case['name'] in done or names and case['name'] not in names:
                continue
            try:
                answer = judge.judge(case)
            except Exception:
                error = traceback.format_exc()
                if judge.is_gone():
                    print(f'Spark is gone; the same command goes on from here\n{error}', file=sys.stderr)
                    return 1
                answer = {'outcome': 'error', 'error': error if len(error) < 2000 else f'{error[:1000]} ... {error[-1000:]}'}
            file.write(json.dumps({'name': case['name'], **answer}) + '\n')
            file.flush()
    return 0


if __name__ == '__main__':
    code = main()
    sys.stdout.flush()
    # Threads of the gateway keep the interpreter from ending.
    os._exit(code)
