# Faults of a cell: short tracebacks, and what there was when it happened.
DRIVER = '<kernel>'


def is_user(filename):
    return filename.startswith('<cell ') or (filename.startswith(HOME + os.sep) and 'site-packages' not in filename)


def frames_of(e):
    """(filename, line, function) of the traceback, without the kernel's own."""
    found, tb, n = [], e.__traceback__, 0
    while tb is not None and n < 5000:
        code = tb.tb_frame.f_code
        if code.co_filename != DRIVER:
            found.append((code.co_filename, tb.tb_lineno, code.co_name))
        tb, n = tb.tb_next, n + 1
    return found


def library(filename):
    if filename.startswith('<'):
        return filename.strip('<>').replace('frozen ', '')
    site = CONF.get('site') or ''
    for root in (site, 'site-packages', 'dist-packages', os.path.dirname(os.__file__)):
        before, sep, rest = filename.rpartition(root + os.sep) if root else ('', '', '')
        if sep:
            return rest.split(os.sep)[0].replace('.py', '')
    return os.path.basename(filename).replace('.py', '')


def stack_lines(found):
    """The cell's own frames in full; of a library only how deep and where it ended."""
    lines, i, shown = [], 0, 0
    while i < len(found):
        name, no, func = found[i]
        if is_user(name):
            same = 1
            while i + same < len(found) and found[i + same] == found[i]:
                same += 1
            shown += 1
            if shown <= 8 or len(found) - i <= 4:
                lines.append('  File "%s", line %d, in %s' % (name, no, func))
                src = linecache.getline(name, no).strip()
                if src:
                    lines.append('    ' + clip(src, 200))
                if same > 1:
                    lines.append('  [the same line %d more times]' % (same - 1))
            elif shown == 9:
                lines.append('  ...')
            i += same
            continue
        j = i
        while j < len(found) and not is_user(found[j][0]):
            j += 1
        lines.append('  ... %d frame%s in %s, the last one in %s' % (j - i, 's' if j - i > 1 else '', library(name), found[j - 1][2]))
        i = j
    return lines


def only(e):
    import traceback
    try:
        return clip(''.join(traceback.format_exception_only(type(e), e)).rstrip('\n'), 1500)
    except Exception:
        return type(e).__name__


def trace(e, depth=0):
    parts, seen = [], set()
    while e is not None and len(parts) < 4 and id(e) not in seen:
        seen.add(id(e))
        found = frames_of(e)
        lines = ['Traceback (most recent call last):'] + stack_lines(found) if found else []
        text = '\n'.join(lines + [only(e)])
        for sub in list(getattr(e, 'exceptions', None) or ())[:5] if depth < 2 else ():
            text += '\n' + '\n'.join('  | ' + s for s in trace(sub, depth + 1).splitlines())
        cause = e.__cause__
        before = cause if cause is not None else (None if e.__suppress_context__ else e.__context__)
        while before is not None and not any(is_user(f[0]) for f in frames_of(before)):
            cause = before.__cause__  # inside a library: of no use to the reader
            before = cause if cause is not None else before.__context__
            if before is not None and id(before) in seen:
                before = None
        parts.append((text, e.__cause__ is not None))
        e = before
    out_text = parts[-1][0]
    for i in range(len(parts) - 2, -1, -1):
        text, direct = parts[i]
        joint = 'The above exception was the direct cause of the following exception:' if direct else 'During handling of the above exception, another exception occurred:'
        out_text += '\n\n' + joint + '\n\n' + text
    return out_text


def line_of(e):
    if isinstance(e, SyntaxError) and (e.filename or '').startswith('<cell '):
        return e.lineno or 0
    here = '<cell %d>' % S.n
    lines = [no for name, no, _ in frames_of(e) if name == here]
    if not lines:
        lines = [no for name, no, _ in frames_of(e) if name.startswith('<cell ')]
    return lines[-1] if lines else 0


def example(col):
    try:
        for v in col.head(50):
            if v is not None and v == v:
                return clip(str(v), 40)
    except Exception:
        pass
    return ''


def frame_facts(name, df):
    cols = []
    for i, c in enumerate(df.columns[:60]):
        col = df.iloc[:, i] if hasattr(df, 'iloc') else df[c]
        cols.append(dict(name=label(c), type=str(col.dtype), example=example(col), text=isinstance(c, str)))
    return dict(name=name, columns=cols, shape=[int(df.shape[0]), int(df.shape[1])])


def facts(e):
    """What there is, so that the host can say what would have been right."""
    found = dict(frames=[], dicts=[], names=[], files=[], attrs=[], modules=[])
    spaces, tb = [main.__dict__], e.__traceback__
    while tb is not None:
        if is_user(tb.tb_frame.f_code.co_filename) and tb.tb_frame.f_locals is not main.__dict__:
            spaces.insert(0, tb.tb_frame.f_locals)
        tb = tb.tb_next
    mods = [m for m in (sys.modules.get('pandas'), sys.modules.get('polars')) if m is not None and hasattr(m, 'DataFrame')]
    seen, seen_ids = set(), set()
    for space in spaces[:4]:
        for k, v in list(space.items()):
            if k.startswith('_') or k in seen or k in hidden and main.__dict__.get(k) is hidden[k]:
                continue
            seen.add(k)
            if len(found['names']) < 200:
                found['names'].append(k)
            if id(v) in seen_ids:
                continue
            seen_ids.add(id(v))
            if any(isinstance(v, m.DataFrame) for m in mods):
                if len(found['frames']) < 6:
                    found['frames'].append(frame_facts(k, v))
            elif isinstance(v, dict) and isinstance(e, KeyError) and len(found['dicts']) < 6:
                found['dicts'].append(dict(name=k, keys=[clip(str(x), 80) for x in list(v)[:60]]))
    if isinstance(e, OSError):
        try:
            found['files'] = sorted(f for f in os.listdir('.') if not f.startswith('.'))[:60]
        except OSError:
            pass
        if isinstance(e.filename, (str, bytes)):
            found['file'] = os.fsdecode(e.filename).encode('utf-8', 'replace').decode()
        found['errno'] = e.errno or 0
    if isinstance(e, (AttributeError, NameError, ImportError)):
        found['name'] = str(getattr(e, 'name', None) or '')
    if isinstance(e, AttributeError):
        obj = getattr(e, 'obj', None)
        if obj is not None:
            found['attrs'] = [a for a in dir(obj) if not a.startswith('_')][:600]
    if isinstance(e, ModuleNotFoundError):
        from importlib.machinery import PathFinder
        found['modules'] = [m for m in CONF['common'] if m in sys.modules or PathFinder.find_spec(m) is not None]
    return found


def fault(e):
    try:
        message = clip(str(e), 2000)
    except Exception:
        message = ''
    r = dict(name=type(e).__name__, bases=[c.__name__ for c in type(e).__mro__[1:6]], message=message, line=line_of(e), trace=trace(e))
    if len(r['trace']) > 8000:
        r['trace'] = r['trace'][:4000] + '\n... [cut] ...\n' + r['trace'][-4000:]
    if not isinstance(e, KeyboardInterrupt):
        try:
            r['facts'] = facts(e)
        except Exception:
            pass
    return clean(r)


def clean(v):
    """Without lone surrogates, which JSON for the host must not hold."""
    if isinstance(v, str):
        return v.encode('utf-8', 'replace').decode()
    if isinstance(v, dict):
        return {k: clean(x) for k, x in v.items()}
    if isinstance(v, list):
        return [clean(x) for x in v]
    return v


def show_thread_fault(args):
    """threading.excepthook: a thread's fault, as short as one of a cell."""
    if args.exc_type is not SystemExit and args.exc_value is not None:
        err.write('In thread %s:\n%s\n' % (getattr(args.thread, 'name', '?'), clip(trace(args.exc_value), 4000)))


_warned = set()


def show_warning(message, category, filename, lineno, file=None, line=None):
    """Once for each text, in one short line."""
    text = clip(' '.join(str(message).split()), 180)
    glyph = no_glyph(text)
    if glyph is not None:
        text = '' if S.no_glyph else glyph  # once, not for every sign
        S.no_glyph = True
    if not text or (category, text) in _warned or 'is multi-threaded, use of fork' in text:
        return  # the second thread is the kernel's own, and fork is made safe for it
    if len(_warned) < 1000:
        _warned.add((category, text))
    where = ' (line %d)' % lineno if is_user(filename) else ''
    (file or sys.stderr).write('%s: %s%s\n' % (category.__name__, text, where))
