#!/usr/bin/env python3
"""Does Delta Spark read the same rows from a checkpoint that contend wrote as from the table before?

usage: spark_checkpoints.py CONTEND TABLES WORK SPARK_JAR

To be run by hand with a Python that has pyspark 4.0 and pyarrow, on a machine with Java 17; SPARK_JAR is a jar of Delta Lake 4.0 for Scala 2.13 with what it
needs inside. The copies are made as `checkpoints.py` makes them, once; answers go to WORK/spark.jsonl one by one, and what is there is not
asked again, so that a run that was cut off is continued by the same command. Exit 0 when nothing differs, 1 otherwise.

The session and the way in which rows are fetched are those of the cross-check scripts that made `sim/tests/tables/manifest.json`, our own work.
"""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import answers
import canon
from checkpoints import one_line, prepare


def session(jar, **more):
    from pyspark.sql import SparkSession
    builder = SparkSession.builder.master('local[2]').appName('checkpoints')
    for key, value in {
        'spark.jars': os.path.abspath(jar),
        'spark.sql.extensions': 'io.delta.sql.DeltaSparkSessionExtension',
        'spark.sql.catalog.spark_catalog': 'org.apache.spark.sql.delta.catalog.DeltaCatalog',
        'spark.ui.enabled': 'false',
        'spark.ui.showConsoleProgress': 'false',
        'spark.sql.shuffle.partitions': '2',
        'spark.databricks.delta.snapshotPartitions': '2',
        'spark.driver.host': '127.0.0.1',
        'spark.driver.bindAddress': '127.0.0.1',
        'spark.driver.memory': '2g',
        'spark.sql.session.timeZone': 'UTC',
        'spark.driver.extraJavaOptions': '-Duser.timezone=UTC',
        'spark.sql.warehouse.dir': tempfile.mkdtemp(prefix='warehouse'),
        **more,
    }.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel('OFF')
    return spark


def ask(spark, directory):
    from pyspark.sql import functions
    try:
        table = spark.read.format('delta').load(directory)
        for field in table.schema.fields:
            if 'variant' in field.dataType.simpleString():
                table = table.withColumn(field.name, functions.to_json(functions.col(f'`{field.name}`')))
        rows = table.toArrow()
        log = spark._jvm.org.apache.spark.sql.delta.DeltaLog
        files = log.forTable(spark._jsparkSession, directory).unsafeVolatileSnapshot().numOfFiles()
        log.clearCache()
        return {'rows': rows.num_rows, 'files': files, 'sha': canon.digest(canon.lines(rows, table.columns))}
    except Exception as error:
        return {'error': one_line(f'{type(error).__name__}: {error}')}


def main():
    if len(sys.argv) != 5:
        print(__doc__, file=sys.stderr)
        return 2
    program, tables, work, jar = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    plan_path, answers_path = os.path.join(work, 'plan.json'), os.path.join(work, 'spark.jsonl')
    if not os.path.exists(plan_path):
        plan = prepare(program, tables, work)
        with open(plan_path + '.new', 'w') as file:
            json.dump(plan, file)
        os.replace(plan_path + '.new', plan_path)
    with open(plan_path) as file:
        plan = json.load(file)
    given = {answer['directory']: answer for answer in answers.read(answers_path)}
    spark = None
    with open(answers_path, 'a') as file:
        file.write('\n')
        for entry in plan:
            for directory in (entry['before'], *entry.get('after', [])):
                if directory in given:
                    continue
                spark = spark or session(jar)
                given[directory] = {'directory': directory, **ask(spark, directory)}
                file.write(json.dumps(given[directory]) + '\n')
                file.flush()
    same = different = unreadable = refused = 0
    for entry in plan:
        label = f'{entry["name"]} {entry["kind"]}' + (' (feature added)' if 'feature' in entry else '')
        if 'refused' in entry:
            refused += 1
            print(f'--    {label}: {entry["refused"]}')
            continue
        was, *found = ({key: value for key, value in given[which].items() if key != 'directory'} for which in (entry['before'], *entry['after']))
        if 'error' in was:
            unreadable += 1
            print(f'part  {label}: Spark does not read it before either: {was["error"]}')
        elif all(now == was for now in found):
            same += 1
            print(f'ok    {label}: {was["rows"]} rows, {was["files"]} files')
        else:
            different += 1
            print(f'FAIL  {label}: {found} instead of {was}')
    print(f'{same} same, {refused} refused, {unreadable} unreadable before, {different} different')
    return 1 if different or not same else 0


if __name__ == '__main__':
    sys.exit(main())
