# Fonts of figures: labels in Chinese, Japanese and Korean, and short words about what is missing.
FONT_FOLDERS = ('/usr/share/fonts', '/usr/local/share/fonts')


def changed_since(when):
    """Whether a font was installed or removed after the time given: that changes its folder."""
    for top in FONT_FOLDERS:
        for folder, _, _ in os.walk(top):
            try:
                if os.stat(folder).st_mtime > when:
                    return True
            except OSError:
                pass
    return False


class OncePerText:
    """Lets a message of matplotlib's search for fonts through once: it comes with every label."""

    def __init__(self):
        self.seen = set()

    def filter(self, record):
        text = record.getMessage()
        if text in self.seen:
            return False
        if len(self.seen) < 1000:
            self.seen.add(text)
        return True


def on_fonts(fm):
    try:
        import logging
        import matplotlib
        logging.getLogger('matplotlib.font_manager').addFilter(OncePerText())
        fonts = fm.fontManager
        # A font that was removed, or lies outside of what is visible here, would start a new search of all.
        fonts.ttflist[:] = [f for f in fonts.ttflist if os.path.exists(f.fname)]
        if S.old_fonts:
            known = {str(f.fname) for f in fonts.ttflist}
            for path in fm.findSystemFonts():
                if path not in known:
                    try:
                        fonts.addfont(path)
                    except Exception:
                        pass  # damaged, or of a kind that matplotlib does not read
        names = fallback_fonts(fm)
        for rc in (matplotlib.rcParams, matplotlib.rcParamsDefault, matplotlib.rcParamsOrig):
            family = list(rc['font.family'])
            rc['font.family'] = family + [n for n in names if n not in family]
    except Exception:
        pass  # figures without such labels work all the same


def no_glyph(text):
    """What a warning of matplotlib about a sign that no font has should say; None for others."""
    if not (text.startswith('Glyph ') and ' missing from ' in text):
        return None
    number = text.split(' ', 2)[1]
    sign = chr(int(number)) if number.isdigit() and int(number) < 0x110000 else '?'
    return ('No font here has the sign %s, and maybe others; the figure shows boxes in their place. '
            'Write labels in other letters, or have a font for them installed.' % (sign if sign.isprintable() else 'number ' + number))
