# What a value looks like: tables, pictures, text.
def bounded(v):
    """repr that neither fails nor fills the memory."""
    try:
        if isinstance(v, (list, tuple, set, frozenset, dict)) and type(v).__module__ == 'builtins' and len(v) > 2000:
            import itertools
            if isinstance(v, dict):
                head = dict(itertools.islice(v.items(), 200))
            else:
                head = list(itertools.islice(v, 200))
            r = repr(head)
            return clip(r[:-1], MAX_REPR) + ', ... and %d more items%s' % (len(v) - 200, r[-1])
        if isinstance(v, (str, bytes)) and len(v) > MAX_REPR:
            return clip(repr(v[:MAX_REPR]), MAX_REPR) + '... %d in all' % len(v)
        return clip(repr(v), MAX_REPR)
    except Exception as e:
        return '<%s object, its repr raised %s>' % (type(v).__name__, type(e).__name__)


def clip(s, most):
    return s if len(s) <= most else s[:most] + '... [%d characters cut]' % (len(s) - most)


def cell_value(v):
    """One table cell as something JSON can hold exactly."""
    try:
        if v is None or isinstance(v, bool):
            return v
        if hasattr(v, 'item') and getattr(v, 'shape', None) == () and type(v).__module__ == 'numpy':
            v = v.item()
        if isinstance(v, bool):
            return v
        if isinstance(v, int):
            return int(v) if -(1 << 53) <= v <= 1 << 53 else str(v)  # beyond that a browser would round
        if isinstance(v, float):
            if v != v:
                return None
            return float(v) if abs(v) != float('inf') else str(v)
        if type(v).__name__ in ('NAType', 'NaTType'):
            return None
        if isinstance(v, tuple):
            return clip(', '.join(str(x) for x in v), 300)
        return clip(str(v), 300).encode('utf-8', 'replace').decode()
    except Exception:
        return '?'


def label(c):
    return clip(' / '.join(str(x) for x in c) if isinstance(c, tuple) else str(c), 200)


def pandas_table(df):
    sub = df.iloc[:MAX_ROWS, :MAX_COLS]
    rows = sub.itertuples(index=False, name=None) if sub.shape[1] else [() for _ in range(len(sub))]
    return dict(columns=[label(c) for c in sub.columns], types=[str(d) for d in sub.dtypes],
                index=[cell_value(i) for i in sub.index], rows=[[cell_value(v) for v in r] for r in rows],
                shape=[int(df.shape[0]), int(df.shape[1])])


def polars_table(df):
    sub = df[:MAX_ROWS, :MAX_COLS]
    rows = sub.rows()
    return dict(columns=[label(c) for c in sub.columns], types=[str(d) for d in sub.dtypes],
                index=list(range(len(rows))), rows=[[cell_value(v) for v in r] for r in rows],
                shape=[int(df.shape[0]), int(df.shape[1])])


def table(v):
    """The table in v, or None."""
    pd, pl = sys.modules.get('pandas'), sys.modules.get('polars')
    if pd is not None and hasattr(pd, 'DataFrame'):
        if isinstance(v, pd.DataFrame):
            return pandas_table(v)
        if isinstance(v, pd.Series):
            return pandas_table(v.to_frame(name=v.name if v.name is not None else 'value'))
    if pl is not None and hasattr(pl, 'DataFrame'):
        if isinstance(v, pl.DataFrame):
            return polars_table(v)
        if isinstance(v, pl.Series):
            return polars_table(v.to_frame())
    return None


def is_figure(v):
    fig = sys.modules.get('matplotlib.figure')
    return fig is not None and isinstance(v, fig.Figure)


def send_png(png, text):
    import base64
    if S.figures >= MAX_FIGS:
        if S.figures == MAX_FIGS:
            err.write('Only the first %d pictures of a run are shown.\n' % MAX_FIGS)
            S.figures += 1
        return
    if len(png) > MAX_PNG:
        err.write('A picture of %d MB is too large to show.\n' % (len(png) >> 20))
        return
    S.figures += 1
    flush_all()
    emit('show', d={'text/plain': text, 'image/png': base64.b64encode(png).decode()})


def send_figure(fig):
    b = io.BytesIO()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings('ignore', message='.*tight_layout.*|.*Tight layout.*|.*constrained_layout.*')
            fig.savefig(b, format='png', dpi=min(fig.dpi, 110), bbox_inches='tight')
    except Exception as e:
        err.write('The figure could not be drawn: %s: %s\n' % (type(e).__name__, clip(str(e), 300)))
        return
    title = ''
    for ax in fig.axes:
        title = title or ax.get_title()
    send_png(b.getvalue(), '<Figure%s with %d axes>' % (' ' + clip(repr(title), 80) if title else '', len(fig.axes)))


def show_figures(*_, **__):
    """plt.show(): sends every open figure and closes it, so that none is shown twice."""
    plt = sys.modules.get('matplotlib.pyplot')
    if plt is None or not hasattr(plt, 'get_fignums'):
        return
    for n in plt.get_fignums():
        fig = plt.figure(n)
        if fig.axes or fig.texts or fig.images:
            send_figure(fig)
    plt.close('all')


def show_value(v):
    """Shows one value in the richest way there is; returns its text."""
    if is_figure(v):
        send_figure(v)
        plt = sys.modules.get('matplotlib.pyplot')
        if plt is not None:
            plt.close(v)
        return '<Figure>'
    text = bounded(v)
    data = {'text/plain': text.encode('utf-8', 'replace').decode()}
    try:
        t = table(v)
        if t is not None:
            data[CONF['tableMIME']] = _dumps(t, ensure_ascii=False)
        elif hasattr(type(v), '_repr_png_'):
            png = v._repr_png_()
            if isinstance(png, bytes):
                send_png(png, text)
                return text
    except Exception as e:
        err.write('The value could not be shown in full: %s: %s\n' % (type(e).__name__, clip(str(e), 300)))
    S.shown += 1
    if S.shown <= CONF['maxShown']:
        flush_all()
        emit('show', d=data)
    return text


def display(*values, **_):
    """Shows values in the chat: tables, pictures, text."""
    for v in values:
        show_value(v)


def quiet(v):
    """Plot calls return artists that nobody wants to read."""
    if isinstance(v, (list, tuple)) and v:
        return quiet(v[0])
    if type(v).__module__ == 'numpy' and getattr(v, 'dtype', None) == object and getattr(v, 'size', 0):
        return quiet(v.flat[0])  # an array of axes
    if isinstance(v, (list, tuple)) or is_figure(v):
        return False
    return type(v).__module__.split('.')[0] == 'matplotlib' and 'matplotlib.pyplot' in sys.modules
