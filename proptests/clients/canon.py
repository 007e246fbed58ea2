"""Canonical text of table rows, so that different clients' answers can be compared by a hash.

A row is one JSON array (compact, UTF-8, no ASCII escaping), its values in schema field order:
  null -> null; boolean -> true/false; any integer -> number;
  float/double -> "f32:XXXXXXXX" / "f64:XXXXXXXXXXXXXXXX" (IEEE bits, big-endian hex; every NaN -> "nan");
  decimal(p,s) -> string with exactly s digits after the point; string -> string;
  binary -> "0x" + lower-case hex; date -> days since 1970-01-01 (number);
  timestamp and timestamp_ntz -> microseconds since 1970-01-01 00:00:00 (UTC / as written), floored;
  struct -> array in field order; array -> array; map -> array of [key, value] sorted by the key's JSON text.
Rows are sorted by their UTF-8 bytes, each is followed by "\n"; rows_sha256 is the SHA-256 of that text.
"""
import hashlib, json, struct
import pyarrow as pa
import pyarrow.compute as pc


def enc(a):
    if isinstance(a, pa.ChunkedArray):
        out = []
        for c in a.chunks:
            out += enc(c)
        return out
    t = a.type
    if isinstance(t, pa.BaseExtensionType):
        return enc(a.storage)
    n = len(a)
    if pa.types.is_null(t):
        return [None] * n
    if pa.types.is_dictionary(t):
        return enc(a.dictionary_decode())
    if pa.types.is_boolean(t) or pa.types.is_integer(t):
        return a.to_pylist()
    if pa.types.is_floating(t):
        fmt, tag, w = ('>d', 'f64:', 16) if pa.types.is_float64(t) else ('>f', 'f32:', 8)
        return [None if x is None else 'nan' if x != x else tag + struct.pack(fmt, x).hex() for x in a.to_pylist()]
    if pa.types.is_decimal(t):
        return [None if x is None else format(x, 'f') for x in a.to_pylist()]
    if pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_string_view(t):
        return a.to_pylist()
    if pa.types.is_binary(t) or pa.types.is_large_binary(t) or pa.types.is_binary_view(t) or pa.types.is_fixed_size_binary(t):
        return [None if x is None else '0x' + x.hex() for x in a.to_pylist()]
    if pa.types.is_date32(t):
        return a.cast(pa.int32()).to_pylist()
    if pa.types.is_date64(t):
        return enc(a.cast(pa.date32()))
    if pa.types.is_timestamp(t):
        unit, i = t.unit, a.cast(pa.int64()).to_pylist()
        if unit == 'ns':
            return [None if x is None else x // 1000 for x in i]
        m = {'s': 1000000, 'ms': 1000, 'us': 1}[unit]
        return [None if x is None else x * m for x in i]
    if pa.types.is_struct(t):
        if t.num_fields == 0:
            return [[] if v else None for v in a.is_valid().to_pylist()]
        kids = [enc(pc.struct_field(a, [i])) for i in range(t.num_fields)]
        return [list(r) if v else None for v, r in zip(a.is_valid().to_pylist(), zip(*kids))]
    if pa.types.is_map(t):
        offs = a.offsets.to_pylist(); k = enc(a.keys); v = enc(a.items)
        base = 0
        out = []
        for i, ok in enumerate(a.is_valid().to_pylist()):
            s, e = offs[i], offs[i + 1]
            out.append(sorted(([k[j], v[j]] for j in range(s, e)), key=lambda p: json.dumps(p[0], ensure_ascii=False)) if ok else None)
        return out
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        offs = a.offsets.to_pylist(); v = enc(a.values)
        return [v[offs[i]:offs[i + 1]] if ok else None for i, ok in enumerate(a.is_valid().to_pylist())]
    if pa.types.is_fixed_size_list(t):
        return enc(a.cast(pa.list_(t.value_type)))
    if pa.types.is_list_view(t) or pa.types.is_large_list_view(t):
        return enc(a.cast(pa.large_list(t.value_type)))
    raise TypeError(f'no canonical text for {t}')


def lines(tbl, names=None):
    if names is not None:
        have = tbl.column_names
        if sorted(have) != sorted(names):
            raise ValueError(f'columns {have} are not {names}')
        tbl = tbl.select([have.index(n) for n in names])
    cols = [enc(c) for c in tbl.columns]
    rows = [json.dumps(list(r), separators=(',', ':'), ensure_ascii=False) for r in zip(*cols)]
    rows.sort(key=lambda s: s.encode('utf-8', 'surrogatepass'))
    return rows


def digest(rows):
    h = hashlib.sha256()
    for r in rows:
        h.update(r.encode('utf-8', 'surrogatepass') + b'\n')
    return h.hexdigest()
