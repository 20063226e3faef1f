# load(): reads a file as its card says. The host sends the plans, as data.
_plans = {}
_told = set()


def load(name, sheet=None, table=None, **options):
    """Loads a file of the working folder the right way: load("sales.csv").

    A table becomes a DataFrame. sheet= or table= choose a part of a workbook or a database;
    "*" or a list gives a dictionary of them. Other options go to the reader of pandas.
    Text, PDF, pictures and archives become a str, a picture, or the list of what is inside.
    """
    path = os.fspath(name)
    size = os.stat(path).st_size if not os.path.isdir(path) else -1
    known = os.path.normpath(os.path.relpath(path, HOME) if os.path.isabs(path) else path)
    plan = _plans.get(known)
    if plan is not None and plan.get('size') != size:
        plan = None  # it was written anew since the card was made
    if plan is None:
        plan = _guess_plan(path, size)
    note = list(plan.get('said') or ())
    reader = _readers.get(plan['kind'])
    if reader is None:
        raise ValueError('load() cannot read %r: %s' % (path, plan.get('why') or 'the kind of file is %s' % plan['kind']))
    value = reader(path, plan, _Choice(sheet if sheet is not None else table, options, note))
    if note:
        line = 'load(%r): %s' % (known, '; '.join(clip(str(n), 300) for n in note))
        if line not in _told and len(_told) < 1000:
            _told.add(line)
            sys.stderr.write(line + '\n')
    return value


class _Choice:
    """What the caller asked for, and what he is told."""

    def __init__(self, part, options, note):
        self.part, self.options, self.note = part, options, note

    def arguments(self, plan):
        return {**(plan.get('read') or {}), **self.options}


def _pandas():
    try:
        import pandas
    except ImportError:
        raise ImportError('load() needs pandas for tables, and it is not installed here. Use the module csv, json or sqlite3.') from None
    return pandas


def _load_table(path, plan, want):
    pd = _pandas()
    args = want.arguments(plan)
    for key in ('dtype', 'na_values', 'date_format'):
        if isinstance(args.get(key), dict) and args.get('usecols') is not None and key not in want.options:
            keep = args['usecols']
            if isinstance(keep, (list, tuple)) and all(isinstance(k, str) for k in keep):
                args[key] = {k: v for k, v in args[key].items() if k in keep}
                if isinstance(args.get('parse_dates'), list):
                    args['parse_dates'] = [d for d in args['parse_dates'] if d in keep]
    source = path
    if plan.get('drop'):
        bad = set(plan['drop'])
        unpack = {'gzip': 'gzip', 'bz2': 'bz2'}.get(plan.get('unpack'))
        opener = __import__(unpack).open if unpack else open
        with opener(path, 'rt', encoding=plan['encoding'], errors='replace' if plan.get('replace') else 'strict') as f:
            source = io.StringIO(''.join(s for n, s in enumerate(f, 1) if n not in bad))
    df = pd.read_csv(source, **args)
    return _finish(pd, df, plan, want)


def _finish(pd, df, plan, want):
    """Does what the reader cannot: signs off numbers, and a word about dates that are none."""
    if not isinstance(df, pd.DataFrame):  # chunks were asked for
        return (_finish(pd, part, plan, want) for part in df)
    chosen = want.options.get('dtype') or {}
    if not isinstance(chosen, dict):
        return df  # one type for all: that is what was asked for
    for c in plan.get('clean') or ():
        if c['name'] in df and c['name'] not in chosen:
            _clean(pd, df, c, want.note)
    done = {c['name'] for c in plan.get('clean') or ()}
    for n in plan.get('numbers') or ():
        if n in df and n not in done and df[n].dtype == object and n not in chosen:
            bad = df[n][pd.to_numeric(df[n], errors='coerce').isna() & df[n].notna()]
            if len(bad):
                want.note.append('%r stays text: %d values are no numbers, such as %s' % (n, len(bad), clip(repr(bad.iloc[0]), 60)))
    for d in plan.get('dates') or ():
        if d in df and df[d].dtype == object and df[d].notna().any():
            want.note.append('%r has values that are no dates of that form, so it stays text' % d)
    return df


def _clean(pd, df, c, note):
    """Makes numbers of a column of text. What is no number is told, never made missing in silence."""
    s = df[c['name']]
    if s.dtype != object and str(s.dtype) not in ('str', 'string'):
        return
    v = s
    if c.get('brackets'):
        v = v.str.replace(r'^\((.*)\)$', r'-\1', regex=True)
    if c.get('decimal') == ',':
        v = v.str.replace(r'[^0-9,+-]', '', regex=True).str.replace(',', '.', regex=False)
    else:
        v = v.str.replace(r'[^0-9.+-]', '', regex=True)
    got = pd.to_numeric(v, errors='coerce')
    bad = s[got.isna() & s.notna()]
    if len(bad):
        note.append('%r stays text: %d values are no numbers, such as %s' % (c['name'], len(bad), clip(repr(bad.iloc[0]), 60)))
    else:
        df[c['name']] = got


def _parts(plan, want, have, word):
    """The parts to read, and whether as a dictionary."""
    part = want.part
    if part is None:
        first = have[0] if plan.get('part') is None else plan['part']
        if len(have) > 1:
            want.note.append('%s %r of %d; others: load(%s=...) with %s, or %s="*" for all' % (
                word, first, len(have), word, ', '.join(repr(h) for h in have if h != first)[:200], word))
        return [first], False
    if isinstance(part, int) and not isinstance(part, bool):
        return [have[part]], False
    chosen = have if part == '*' else list(part) if isinstance(part, (list, tuple)) else [part]
    for p in chosen:
        if p not in have:
            raise ValueError('there is no %s %r; there is: %s' % (word, p, ', '.join(map(repr, have[:30]))))
    return chosen, part == '*' or isinstance(part, (list, tuple))


def _load_excel(path, plan, want):
    pd = _pandas()
    with pd.ExcelFile(path) as book:
        names, many = _parts(plan, want, book.sheet_names, 'sheet')
        got = {}
        for n in names:
            args = want.arguments(plan) if n == plan.get('part') else dict(want.options)
            if n != plan.get('part') and 'skiprows' not in args and 'header' not in args:
                args['skiprows'] = _first_full_row(pd, book, n)
            got[n] = book.parse(n, **args)
    return got if many else got[names[0]]


def _first_full_row(pd, book, name):
    """Rows above the one that has all the width: titles."""
    top = book.parse(name, header=None, nrows=30)
    if not len(top):
        return 0
    full = top.notna().sum(axis=1)
    return int((full >= max(1, 0.6 * top.shape[1])).idxmax())


def _load_sqlite(path, plan, want):
    import sqlite3
    import urllib.parse
    pd = _pandas()
    con = sqlite3.connect('file:%s?mode=ro' % urllib.parse.quote(os.path.abspath(path)), uri=True)
    try:
        have = [r[0] for r in con.execute("select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite_%'")]
        if not have:
            raise ValueError('the database has no tables')
        names, many = _parts(plan, want, have, 'table')
        got = {n: pd.read_sql('select * from "%s"' % n.replace('"', '""'), con, **want.options) for n in names}
    finally:
        con.close()
    return got if many else got[names[0]]


def _load_json(path, plan, want):
    with open(path, encoding=plan.get('encoding') or 'utf-8') as f:
        data = json.load(f)
    if not plan.get('records'):
        return data
    return _pandas().json_normalize(data[plan['key']] if plan.get('key') else data, **want.options)


def _load_jsonl(path, plan, want):
    rows, bad = [], []
    with open(path, encoding=plan.get('encoding') or 'utf-8') as f:
        for n, s in enumerate(f, 1):
            if s.strip():
                try:
                    rows.append(json.loads(s))
                except ValueError:
                    bad.append(n)
    if bad:
        want.note.append('%d lines are no JSON and are left out, first line %d' % (len(bad), bad[0]))
    return _pandas().json_normalize(rows, **want.options) if plan.get('records') else rows


def _load_parquet(path, plan, want):
    return _pandas().read_parquet(path, **want.options)


def _load_feather(path, plan, want):
    _pandas()
    import pyarrow.ipc
    with open(path, 'rb') as f:
        stream = f.read(6) != b'ARROW1'
    source = pyarrow.memory_map(path)
    return (pyarrow.ipc.open_stream if stream else pyarrow.ipc.open_file)(source).read_pandas()


def _load_text(path, plan, want):
    with open(path, encoding=plan.get('encoding') or 'utf-8', errors='replace' if plan.get('replace') else 'strict') as f:
        return f.read()


def _load_fixed(path, plan, want):
    pd = _pandas()
    return _finish(pd, pd.read_fwf(path, **want.arguments(plan)), plan, want)


def _load_html(path, plan, want):
    if 'size' in plan and not plan.get('records'):
        return _load_text(path, plan, want)  # the card found no table
    encoding = plan.get('encoding') or 'utf-8'
    got = _pandas().read_html(path, **{'encoding': encoding, **want.options})
    have = list(range(len(got)))
    names, many = _parts({**plan, 'part': min(plan.get('index') or 0, len(got) - 1)}, want, have, 'table')
    return {n: got[n] for n in names} if many else got[names[0]]


def _load_xml(path, plan, want):
    if 'size' in plan and not plan.get('records'):
        import xml.etree.ElementTree as tree
        return tree.parse(path).getroot()
    args = {'xpath': './/' + plan['key']} if plan.get('key') else {}
    return _pandas().read_xml(path, **{**args, **want.options})


def _load_notebook(path, plan, want):
    with open(path, encoding='utf-8') as f:
        cells = json.load(f).get('cells') or []
    return [(c.get('cell_type'), ''.join(c.get('source') or ())) for c in cells if isinstance(c, dict)]


def _load_pdf(path, plan, want):
    try:
        import pypdf
    except ImportError:
        raise ImportError('reading a PDF needs pypdf, which is not installed here') from None
    text = '\n'.join(p.extract_text() for p in pypdf.PdfReader(path).pages)
    if not text.strip():
        want.note.append('the PDF has no text; its pages may be pictures')
    return text


def _load_image(path, plan, want):
    from PIL import Image
    return Image.open(path)


def _load_zip(path, plan, want):
    import zipfile
    with zipfile.ZipFile(path) as z:
        return z.namelist()


def _load_tar(path, plan, want):
    import tarfile
    with tarfile.open(path) as t:
        return t.getnames()


def _load_gzip(path, plan, want):
    import gzip
    with gzip.open(path, 'rb') as f:
        data = f.read()
    encoding = plan.get('encoding') or ('' if 'size' in plan else 'utf-8')
    try:
        return data.decode(encoding, 'replace' if plan.get('replace') else 'strict').replace('\r\n', '\n') if encoding else data
    except UnicodeDecodeError:
        return data


def _load_folder(path, plan, want):
    return sorted(os.listdir(path))


_readers = {
    'csv': _load_table, 'tsv': _load_table, 'excel': _load_excel, 'sqlite': _load_sqlite, 'json': _load_json,
    'jsonl': _load_jsonl, 'parquet': _load_parquet, 'arrow': _load_feather, 'text': _load_text,
    'fixed': _load_fixed, 'html': _load_html, 'xml': _load_xml, 'notebook': _load_notebook, 'pdf': _load_pdf,
    'image': _load_image, 'zip': _load_zip, 'tar': _load_tar, 'gzip': _load_gzip, 'folder': _load_folder,
}
