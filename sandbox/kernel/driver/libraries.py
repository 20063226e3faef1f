# Libraries that need a word when they are imported.
def on_pandas(pd):
    for name, v in (('display.width', 160), ('display.max_columns', 30), ('display.max_colwidth', 60)):
        try:
            pd.set_option(name, v)
        except Exception:
            pass


def on_matplotlib(mpl):
    mpl.use = lambda *a, **k: None  # there is one backend, and it must stay
    try:
        mpl.rcParams['figure.max_open_warning'] = 0
    except Exception:
        pass


def before_matplotlib():
    """Gives matplotlib the prepared font list: making one takes seconds, and the prepared folder is read-only."""
    src, dst = CONF.get('mpl'), os.environ.get('MPLCONFIGDIR')
    if not dst:
        return
    try:
        os.makedirs(dst, exist_ok=True)
        for name in os.listdir(src) if src else ():
            if name.startswith('fontlist') and not os.path.exists(os.path.join(dst, name)):
                with open(os.path.join(src, name), 'rb') as f, open(os.path.join(dst, name), 'wb') as g:
                    g.write(f.read())
                    S.old_fonts = changed_since(os.fstat(f.fileno()).st_mtime)
    except OSError:
        pass  # it then makes its own


def on_multiprocessing(m):
    if sys.platform == 'linux' and sys.version_info >= (3, 14):
        try:
            m.set_start_method('fork')  # a fork server does not know the functions of cells
        except RuntimeError:
            pass


def on_tkinter(tk):
    def no(*a, **k):
        raise RuntimeError('windows cannot be opened here: there is no display')
    tk.mainloop = tk.Misc.mainloop = no


BACKEND = 'atoll_figures'


def make_backend(m):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backend_bases import FigureManagerBase
    m.FigureCanvas, m.FigureManager, m.show = FigureCanvasAgg, FigureManagerBase, show_figures


def make_ipython(m):
    # Even where the real one is installed: its display() only prints outside of a notebook.
    m.display, m.clear_output = display, lambda *a, **k: None

    class HTML:
        def __init__(self, data=None, filename=None, **_):
            self.data = data

        def __repr__(self):
            return str(self.data)

    class Image:
        def __init__(self, data=None, filename=None, **_):
            name = filename or (data if isinstance(data, str) else None)
            if name:
                with open(name, 'rb') as f:
                    data = f.read()
            self.data = data

        def _repr_png_(self):
            return self.data if self.data[:8] == b'\x89PNG\r\n\x1a\n' else None
    m.HTML = m.Markdown = m.Pretty = HTML
    m.Image = Image


def make_ipython_root(m):
    m.__path__ = []
    m.get_ipython, m.version_info = lambda: None, (8, 0, 0)


class Finder:
    """Makes the modules that exist only here and has a word with some others."""
    made = {BACKEND: make_backend, 'IPython': make_ipython_root, 'IPython.display': make_ipython}
    first = {'matplotlib': before_matplotlib}
    then = {'pandas': on_pandas, 'matplotlib': on_matplotlib, 'matplotlib.font_manager': on_fonts, 'multiprocessing': on_multiprocessing, 'tkinter': on_tkinter}
    busy = set()

    def find_spec(self, name, path=None, target=None):
        if name not in self.made and name not in self.then or name in self.busy:
            return None
        from importlib.machinery import ModuleSpec, PathFinder
        import importlib.util
        if name in self.made:
            return ModuleSpec(name, Maker(self.made[name]), is_package=name == 'IPython')
        self.busy.add(name)
        try:
            spec = importlib.util.find_spec(name) if path is None else PathFinder.find_spec(name, path)
        except (ImportError, ValueError, AttributeError):
            spec = None
        finally:
            self.busy.discard(name)
        if spec is None or spec.loader is None:
            return spec
        if name in self.first:
            self.first[name]()
        spec.loader = After(spec.loader, self.then[name])
        return spec


class Maker:
    def __init__(self, fill):
        self.fill = fill

    def create_module(self, spec):
        return None

    def exec_module(self, m):
        self.fill(m)


class After:
    """A loader that calls a function when the module is there."""

    def __init__(self, loader, call):
        self._loader, self._call = loader, call

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, m):
        m.__loader__ = m.__spec__.loader = self._loader  # importlib.resources looks at its type
        self._loader.exec_module(m)
        self._call(m)
