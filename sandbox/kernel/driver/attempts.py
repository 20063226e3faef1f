# What cells try to reach outside of what they can see. It is told to the host as a hint for people and the model; the
# boundary is the system's.
MAX_TRIED = 40
_inside = tuple(p.rstrip('/') + '/' for p in dict.fromkeys((
    HOME, '/tmp', '/usr', '/lib', '/lib64', '/bin', '/sbin', '/dev', '/proc', '/sys', '/var/tmp', '/nix/store', CONF.get('site') or '/usr',
    sys.prefix, sys.base_prefix, sys.exec_prefix, *CONF.get('roots', ()),
)))
_secret = ('/etc/shadow', '/etc/gshadow', '/etc/sudoers')
_tried = {}
_normpath, _join = os.path.normpath, os.path.join
_paths = frozenset(('open', 'os.listdir', 'os.scandir', 'os.remove', 'os.rename', 'os.rmdir', 'os.mkdir', 'os.chmod', 'os.chdir', 'os.truncate'))
_access, _R_OK = os.access, os.R_OK


def _note(kind, what):
    key = (kind, what)
    if key in _tried or len(_tried) < MAX_TRIED:
        _tried[key] = _tried.get(key, 0) + 1


# It is called for every file that is opened, so what is usual leaves first.
def _audit(event, args, paths=_paths, inside=_inside, text=str):
    if event in paths:
        try:
            path = args[0]
            if path.__class__ is text and (path[0] != '/' or path.startswith(inside)) and '..' not in path:
                return
        except IndexError:  # no name
            return
        if S.live and not S.forked:
            _look(path)
    elif event == 'socket.getaddrinfo' and S.live and not S.forked and args and isinstance(args[0], (str, bytes)):
        host = args[0] if type(args[0]) is str else args[0].decode('ascii', 'replace')
        if len(host) < 260:
            _note('network', host)


def _look(path):
    if type(path) is bytes:
        path = path.decode('utf-8', 'replace')
    if type(path) is not str or not path:
        return
    path = _normpath(_join(HOME, path))
    hidden = not path.startswith(_inside) and not path.startswith('/etc/') or path.startswith(_secret)
    if hidden and len(path) < 500:
        _note('file', path)


def attempts():
    """What was tried since the last time and was not to be had, as lists of kind, name and count."""
    found = []
    for (kind, what), n in _tried.items():
        try:
            if kind == 'network' or not _access(what, _R_OK):
                found.append([kind, clean(what), n])
        except Exception:
            pass
    _tried.clear()
    return found


if hasattr(sys, 'addaudithook'):
    sys.addaudithook(_audit)
