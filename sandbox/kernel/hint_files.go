package kernel

import (
	"path"
	"strings"
)

func fileHint(c clue) string {
	const (
		eperm, eacces, erofs, enospc, efbig = 1, 13, 30, 28, 27
	)
	switch {
	case c.is("FileNotFoundError"):
		return missing(c)
	case c.is("PermissionError"), c.facts.Errno == eacces, c.facts.Errno == eperm, c.facts.Errno == erofs:
		if c.facts.File == "" {
			return ""
		}
		return "The original files are read-only and only the working folder can be written. Write to a new name there, for example " +
			quote("new_"+path.Base(c.facts.File)) + "."
	case c.is("IsADirectoryError"):
		return "That is a folder. " + files(c)
	case c.facts.Errno == enospc, c.facts.Errno == efbig:
		return "The limit of disk space was reached. Delete files that are not needed, or write less."
	}
	return ""
}

func missing(c clue) string {
	s := files(c)
	want := path.Base(strings.ReplaceAll(c.facts.File, `\`, "/"))
	for _, f := range c.facts.Files {
		if f == want {
			return s + " Did you mean " + quote(f) + "? It lies in the working folder: use the plain name without a path."
		}
	}
	if n := nearest(want, c.facts.Files); n != "" {
		s += " Did you mean " + quote(n) + "?"
	}
	return s
}

func files(c clue) string {
	if len(c.facts.Files) == 0 {
		return "The working folder is empty: the user has attached no file."
	}
	return "Files in the working folder: " + quoteList(c.facts.Files, 30, nil) + "."
}

func encodingHint(c clue) string {
	if !c.is("UnicodeDecodeError") && !c.is("UnicodeError") {
		return ""
	}
	if !c.says("can't decode", "BOM") {
		return ""
	}
	if c.says("0xff in position 0", "0xfe in position 0", "BOM") {
		return `The file is not UTF-8. It starts like UTF-16: read it with encoding="utf-16".`
	}
	return `The file is not UTF-8. Read it with encoding="cp1252" (Western Windows), or "utf-16", "cp1251", "gb18030", "shift_jis" for other languages.`
}

func parserHint(c clue) string {
	switch {
	case c.Name == "ParserError" && c.says("Error tokenizing", "Expected"):
		return `The rows have different numbers of fields, so the separator may be wrong. Look at the first lines with print(open(name, encoding="utf-8", errors="replace").read(500)), then give sep=";" or sep="\t", skiprows=, or on_bad_lines="warn".`
	case c.Name == "EmptyDataError":
		return "The file has no columns: it is empty, or skiprows leaves nothing."
	case c.Name == "BadZipFile", c.says("File is not a zip file"):
		return "This is no .xlsx file. An old .xls needs pd.read_excel(name, engine=\"xlrd\"); a renamed text file needs pd.read_csv(name, sep=None, engine=\"python\")."
	case c.says("Excel file format cannot be determined"):
		return "This is no Excel file, whatever its name says. Try pd.read_csv(name, sep=None, engine=\"python\")."
	case c.is("ValueError") && c.says("Worksheet named"):
		return "List the sheets with pd.ExcelFile(name).sheet_names."
	}
	return ""
}
