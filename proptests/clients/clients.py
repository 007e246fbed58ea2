"""Two independent clients of a Delta table, behind one interface: delta-rs (deltalake) and DuckDB.

A client answers `ask(directory, version)` with a dict: `version` (delta-rs only), `files`, `rows`, `sha` (canon.py).
`version` None asks for the newest.
"""
import os

import canon


class Deltalake:
    name = 'delta-rs'

    def ask(self, directory, version=None):
        import pyarrow as pa
        from deltalake import DeltaTable, QueryBuilder
        table = DeltaTable(directory, version=version)
        rows = pa.table(QueryBuilder().register('t', table).execute('select * from t').read_all())
        names = [field.name for field in table.schema().fields]
        return {'version': table.version(), 'files': len(table.file_uris()), **digest(rows, names)}


class Duckdb:
    name = 'DuckDB'

    def ask(self, directory, version=None):
        connection = self.connect()
        try:
            quoted = directory.replace("'", "''")
            at = f"'{quoted}'" + ('' if version is None else f', version={version}')
            described = connection.execute(f'describe select * from delta_scan({at})').fetchall()
            rows = connection.execute(f'select * from delta_scan({at})').to_arrow_table()
            files = connection.execute(f'select count(*) from delta_list_files({at})').fetchone()[0]
            return {'files': files, **digest(rows, [row[0] for row in described])}
        finally:
            connection.close()

    @staticmethod
    def connect():
        """A new connection for every question: one internal error makes a connection useless. The extension comes from its
        wheel, so no network is needed."""
        import duckdb
        import duckdb_extension_delta as extension
        folder = os.path.join(os.path.dirname(extension.__file__), 'extensions', 'v' + duckdb.__version__)
        options = {'autoinstall_known_extensions': False, 'autoload_known_extensions': False}
        connection = duckdb.connect(config=options)
        connection.execute(f"LOAD '{os.path.join(folder, 'delta.duckdb_extension')}'")
        connection.execute("SET TimeZone='UTC'")
        return connection


def digest(rows, names):
    return {'rows': rows.num_rows, 'sha': canon.digest(canon.lines(rows, names))}


CLIENTS = (Deltalake, Duckdb)
