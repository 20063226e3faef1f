# Running cells, and the loop that serves the host.
main = types.ModuleType('__main__')
main.__dict__.update(__builtins__=builtins, display=display, load=load)
hidden = {'display': display, 'load': load}
sys.modules['__main__'] = main
_flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_loop = None


def evaluate(code):
    global _loop
    got = eval(code, main.__dict__)
    if not code.co_flags & 0x80:  # CO_COROUTINE: no await at the top level
        return got
    import asyncio
    if _loop is None or _loop.is_closed():
        _loop = asyncio.new_event_loop()
        asyncio.set_event_loop(_loop)
    task = _loop.create_task(got)
    try:
        return _loop.run_until_complete(task)
    except BaseException:
        if not task.done():
            task.cancel()
            try:
                _loop.run_until_complete(task)
            except BaseException:
                pass
        raise


def notebook(src):
    """Leaves out lines that only set up a notebook's plots; the line numbers stay."""
    if '%' not in src:
        return src
    return '\n'.join('' if s.lstrip().startswith(('%matplotlib', '%config InlineBackend', '%load_ext')) else s for s in src.split('\n'))


def run_cell(src):
    """Runs one cell; returns the text of its last expression, or None."""
    global _flags
    name = '<cell %d>' % S.n
    linecache.cache[name] = (len(src), None, [s + '\n' for s in src.split('\n')], name)
    tree = compile(notebook(src), name, 'exec', _flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == '__future__':
            import __future__
            for a in node.names:
                _flags |= getattr(getattr(__future__, a.name, None), 'compiler_flag', 0)  # stays on, as in a notebook
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not ends_with_semicolon(src):
        last = ast.Expression(tree.body.pop().value)
    body = compile(tree, name, 'exec', _flags, dont_inherit=True)
    last = compile(last, name, 'eval', _flags, dont_inherit=True) if last is not None else None
    evaluate(body)
    if last is None:
        return None
    v = evaluate(last)
    if v is None:
        return None
    main.__dict__['_'] = v
    return None if quiet(v) else show_value(v)


def ends_with_semicolon(src):
    s = src.rstrip()
    if s.endswith(';'):
        return '#' not in s.rpartition('\n')[2] or s.rpartition('\n')[2].split('#')[0].rstrip().endswith(';')
    last = s.rpartition('\n')[2]
    return '#' in last and last.partition('#')[0].rstrip().endswith(';')


def repair():
    """Puts back what a cell may have broken."""
    for n, keep in _kept.items():
        try:
            a, b = _fstat(n), _fstat(keep)
            if (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino):
                continue
        except OSError:
            pass
        try:
            _dup2(keep, n)
        except OSError:
            pass
    sys.stdout = sys.__stdout__ = out
    sys.stderr = sys.__stderr__ = err
    sys.stdin = sys.__stdin__ = stdin
    builtins.input = _input
    sys.settrace(None)
    sys.setprofile(None)
    sys.modules['__main__'] = main
    warnings.showwarning = show_warning
    threading.excepthook = show_thread_fault
    sys.breakpointhook = lambda *a, **k: err.write('breakpoint() is passed over: nobody can type here.\n')
    signal.signal(signal.SIGINT, _interrupt)
    if hasattr(signal, 'SIGALRM'):
        signal.setitimer(signal.ITIMER_REAL, 0)  # an alarm of a former cell would end the kernel
    try:
        _getcwd()
    except OSError:
        _chdir(HOME)


def enter():
    """Enters the working folder anew: another one lies at its path now."""
    try:
        _chdir(_getcwd())
    except OSError:
        _chdir(HOME)


def guarded_closerange(low, high):
    for fd in sorted(f for f in _own if low <= f < high):
        _closerange(low, fd)
        low = fd + 1
    _closerange(low, high)


def guarded_close(fd):
    if fd in _own and not S.forked:
        raise OSError(9, 'Bad file descriptor')
    _close(fd)


def after_fork():
    """A forked child is no kernel: it keeps neither the host's connection nor the marks."""
    global _lock
    S.forked, S.live = True, True
    _lock = threading.RLock()
    for s in (out, err):
        s._parts, s._size = [], 0
    for fd in (_req, _evt):
        try:
            _close(fd)
        except OSError:
            pass


def execute(request):
    S.n, S.sent, S.figures, S.shown, S.pending = request['n'], 0, 0, 0, False
    S.end, S.end_size = [], 0
    status, value, error, code = 'ok', None, None, None
    repair()
    if request.get('plans') is not None:
        _plans.clear()
        _plans.update((p['name'], p) for p in request['plans'])
    if request.get('enter'):
        enter()
    try:
        try:
            S.live = True
            value = run_cell(request['code'])
            if not S.forked:
                show_figures()
        finally:
            S.live = False
    except SystemExit as e:
        S.live = False
        code = e.code
        status = 'exit'
        error = None if code is None or code is False or code == 0 and not isinstance(code, str) else fault(e)
    except KeyboardInterrupt as e:
        S.live = False
        status, error = 'interrupted', fault(e)
    except MemoryError as e:
        S.live = False
        status, error = 'error', fault(e)
        e.__traceback__ = None
    except BaseException as e:
        S.live = False
        status, error = 'error', fault(e)
    if S.forked:
        flush_fork(status, error)
    return status, value, error, code


def flush_fork(status, error):
    if error and status == 'error':
        _put(2, (error['trace'] + '\n').encode('utf-8', 'replace'))
    _exit(0 if status == 'ok' or status == 'exit' and error is None else 1)


def serve():
    global _libc
    threading.Thread(target=_flusher, daemon=True).start()
    import faulthandler
    faulthandler.enable(file=_kept[2], all_threads=False)
    if hasattr(os, 'register_at_fork'):
        os.register_at_fork(after_in_child=after_fork)
    os.closerange, os.close = guarded_closerange, guarded_close
    sys.meta_path.insert(0, Finder())
    os.environ['MPLBACKEND'] = 'module://' + BACKEND
    sys.argv = ['']
    if CONF.get('site'):
        at = next((i for i, p in enumerate(sys.path) if p.endswith(('site-packages', 'dist-packages'))), len(sys.path))
        sys.path.insert(at, CONF['site'])
    sys.path.append(HOME)  # last: a file of the user must not stand in for a library
    repair()
    emit('ready', python='%d.%d.%d' % sys.version_info[:3])
    try:
        import ctypes
        _libc = ctypes.CDLL(None) if os.name == 'posix' else None
    except Exception:
        pass  # then what C code prints comes when its buffer is full
    while True:
        line = _readline()
        if line is None:
            return
        request = json.loads(line)
        start = _clock()
        try:
            status, value, error, code = execute(request)
        except KeyboardInterrupt:
            status, value, error, code = 'interrupted', None, None, None
        S.live = False
        if S.forked:
            _exit(1)
        if status != 'ok':
            try:
                show_figures()
            except Exception:
                pass
        repair()
        flush_all()
        cut = send_end()
        emit('done', k=request['token'], status=status, value=clean(value), err=error, code=clean(clip(str(code), 200)), cut=cut,
             tried=attempts(), ms=(_clock() - start) * 1000)
        del error, value, code


serve()
# The host has closed the connection. Threads that cells started must not hold the process.
_exit(0)
