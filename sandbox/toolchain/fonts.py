# Which fonts matplotlib takes for signs that its usual one lacks. It is run at
# set-up and by the kernel; it imports nothing by itself.
FONT_FALLBACKS = (
    'Noto Sans CJK SC', 'Noto Sans CJK JP', 'Noto Sans CJK KR', 'Noto Sans CJK TC', 'Source Han Sans SC', 'Source Han Sans',
    'Noto Sans SC', 'Noto Sans JP', 'Noto Sans KR', 'Noto Sans TC', 'PingFang SC', 'Hiragino Sans GB', 'Hiragino Sans', 'Apple SD Gothic Neo',
    'Microsoft YaHei', 'SimHei', 'Yu Gothic', 'Meiryo', 'MS Gothic', 'Malgun Gothic', 'WenQuanYi Micro Hei', 'WenQuanYi Zen Hei',
    'Droid Sans Fallback', 'IPAexGothic', 'IPAGothic', 'TakaoGothic', 'VL Gothic', 'NanumGothic', 'UnDotum', 'Baekmuk Gulim',
    'Noto Serif CJK SC', 'Noto Serif CJK JP', 'AR PL UMing CN', 'Arial Unicode MS', 'Unifont',
)


def fallback_fonts(fm):
    """Names of the families, of those that are here, which together have Chinese, Japanese and Korean signs."""
    known = {f.name for f in fm.fontManager.ttflist}
    names, lacking = [], set('销あ한')
    for name in FONT_FALLBACKS:
        if not lacking:
            break
        if name not in known:
            continue
        try:
            font = fm.get_font(fm.findfont(fm.FontProperties(family=[name]), fallback_to_default=False))
            has = {c for c in lacking if font.get_char_index(ord(c))}
        except Exception:
            continue  # damaged, or gone
        if has:
            names.append(name)
            lacking -= has
    return names
