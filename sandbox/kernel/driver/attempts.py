# What cells try to reach outside of what they can see. It is told to the host as a hint for people and the model; the
# boundary is the system's.
MAX_TRIED = 40
_inside = tuple(p.rstrip('/') + '/' for p in {
    '/usr', '/lib', '/lib64', '/bin', '/sbin', '/etc', '/dev', '/proc', '/sys', '/tmp', '/var/tmp', '/nix/store', HOME, CONF.get('site') or '/usr',
    sys.prefix, sys.base_prefix, sys.exec_prefix, *CONF.get('roots', ()),
})
_secret = ('/etc/shadow', '/etc/gshadow', '/etc/sudoers')
_tried = {}
_isabs, _normpath, _join = os.path.isabs, os.path.normpath, os.path.join
_paths = {'open', 'os.listdir', 'os.scandir', 'os.remove', 'os.rename', 'os.rmdir', 'os.mkdir', 'os.chmod', 'os.chdir', 'os.truncate'}
_access, _R_OK = os.access, os.R_OK


def _note(kind, what):
    key = (kind, what)
    if key in _tried or len(_tried) < MAX_TRIED:
        _tried[key] = _tried.get(key, 0) + 1


def _audit(event, args):
    if not S.live or S.forked:
        return
    if event in _paths:
        path = args[0] if args else None
        if type(path) is bytes:
            path = path.decode('utf-8', 'replace')
        if type(path) is not str or not path:
            return
        if path[0] == '/' and path.startswith(_inside) and '..' not in path and not path.startswith(_secret):
            return
        if not _isabs(path):
            if '..' not in path:
                return
            path = _join(HOME, path)
        path = _normpath(path)
        if (not path.startswith(_inside) or path.startswith(_secret)) and len(path) < 500:
            _note('file', path)
    elif event == 'socket.getaddrinfo' and args and isinstance(args[0], (str, bytes)):
        host = args[0] if type(args[0]) is str else args[0].decode('ascii', 'replace')
        if len(host) < 260:
            _note('network', host)


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
