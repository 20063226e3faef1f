# Plans for files that have no card, for example those that a cell has written.
def _guess_plan(path, size):
    ext = os.path.splitext(path)[1].lower()
    if size < 0:
        return {'kind': 'folder'}
    with open(path, 'rb') as f:
        head = f.read(1 << 18)
    if len(head) > 262 and head[257:262] == b'ustar' or path.endswith(('.tar.gz', '.tgz', '.tar.bz2', '.tar.xz')):
        return {'kind': 'tar'}
    for sig, kind in ((b'PAR1', 'parquet'), (b'ARROW1', 'arrow'), (b'SQLite format 3\0', 'sqlite'), (b'%PDF-', 'pdf'),
                      (b'\x1f\x8b', 'gzip'), (b'\x89PNG', 'image'), (b'\xff\xd8\xff', 'image'), (b'GIF8', 'image')):
        if head.startswith(sig):
            return {'kind': kind}
    if head.startswith(b'PK\x03\x04'):
        return {'kind': 'excel' if ext.startswith('.xls') else 'zip'}
    if head.startswith(b'\xd0\xcf\x11\xe0'):
        return {'kind': 'excel'}
    if not head:
        return {'kind': 'empty', 'why': 'the file is empty'}
    encoding = _guess_encoding(head, len(head) < size)
    text = head.decode(encoding, 'replace')
    if ext == '.ipynb':
        return {'kind': 'notebook'}
    if ext in ('.jsonl', '.ndjson'):
        return {'kind': 'jsonl', 'encoding': encoding, 'records': True}
    if ext in ('.json', '.geojson'):
        return {'kind': 'json', 'encoding': encoding, 'records': text.lstrip()[:1] == '[' and '{' in text[:1000]}
    if ext in ('.html', '.htm', '.xml'):
        return {'kind': ext[1:4] if ext == '.xml' else 'html'}
    if ext in ('.csv', '.tsv', '.tab', '.dat') or ext == '.txt' and _separator(text)[1] >= 0.9:
        return _guess_table(text, encoding)
    return {'kind': 'text', 'encoding': encoding}


def _guess_encoding(b, cut):
    if b.startswith(b'\xef\xbb\xbf'):
        return 'utf-8-sig'
    if b.startswith((b'\xff\xfe', b'\xfe\xff')):
        return 'utf-16'
    try:
        (b[:b.rfind(b'\n') + 1] or b if cut else b).decode('utf-8')
        return 'utf-8'
    except UnicodeDecodeError:
        return 'cp1252' if not any(x in b for x in (b'\x81', b'\x8d', b'\x8f', b'\x90', b'\x9d')) else 'latin-1'


def _separator(text):
    """The separator that divides the lines most evenly, and the share of lines that agree."""
    lines = [s for s in text.split('\n')[:100] if s.strip()]
    best = (',', 0.0)
    for sep in ('\t', ';', '|', ','):
        counts = [s.count(sep) for s in lines]
        most = max(set(counts), key=counts.count) if counts else 0
        share = counts.count(most) / len(counts) if most else 0.0
        if share > best[1] + 0.05:
            best = (sep, share)
    return best


def _guess_table(text, encoding):
    import re
    sep, _ = _separator(text)
    read, said = {'sep': sep, 'encoding': encoding}, []
    rows = [s.rstrip('\r').split(sep) for s in text.split('\n')[1:200] if s]
    values = [v.strip().strip('"') for r in rows for v in r]
    if sep != ',' and any(re.fullmatch(r'-?(\d{1,3}(\.\d{3})+|\d+),\d+', v) for v in values):
        read['decimal'] = ','
        said.append('decimal comma')
        if any(re.fullmatch(r'-?\d{1,3}(\.\d{3})+(,\d+)?', v) for v in values) and not any(re.fullmatch(r'-?\d+\.\d{1,2}', v) for v in values):
            read['thousands'] = '.'
    names = [s.strip().strip('"') for s in text.split('\n', 1)[0].lstrip('\ufeff').rstrip('\r').split(sep)]
    ids = {}
    for i, n in enumerate(names):
        column = [r[i].strip().strip('"') for r in rows if len(r) == len(names)]
        if any(re.fullmatch(r'0\d+|\d{16,}', v) for v in column) and all(v.isdigit() or not v for v in column) and names.count(n) == 1:
            ids[n] = 'str'
    if ids:
        read['dtype'] = ids
        said.append('kept as text: ' + ', '.join(map(repr, list(ids)[:5])))
    if encoding not in ('utf-8', 'utf-8-sig'):
        said.insert(0, 'encoding ' + encoding)
    if sep != ',':
        said.insert(0, 'separator %r' % sep)
    if said:
        said.append('a guess, for the file has no card')
    return {'kind': 'csv', 'encoding': encoding, 'read': read, 'said': said}
