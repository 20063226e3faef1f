package toolchain

import (
	_ "embed"
	"path/filepath"
)

//go:embed fonts.py
var fontProgram string

// FontProgram is Python source that defines fallback_fonts(font_manager): the
// names of the font families of this machine with which matplotlib can write
// Chinese, Japanese and Korean, where its usual font cannot.
func FontProgram() string { return fontProgram }

// SettingsFile is matplotlib's settings file in an [Env]'s Config folder. It
// names the families that the machine had at set-up. It need not be there.
func SettingsFile(config string) string { return filepath.Join(config, "matplotlibrc") }

// writeSettings follows fontProgram. A machine without such fonts gets no file.
const writeSettings = `
import os, matplotlib.font_manager
names = fallback_fonts(matplotlib.font_manager)
if names:
    with open(os.path.join(os.environ['MPLCONFIGDIR'], 'matplotlibrc'), 'w', encoding='utf-8') as f:
        f.write('font.family: ' + ', '.join(['sans-serif'] + names) + '\n')
`
