package preview

import (
	"fmt"
	"strings"
)

// loadOther is Load for everything that is no table of text.
func (c Card) loadOther(name string) string {
	switch c.Kind {
	case Excel:
		if len(c.Sheets) == 0 {
			return ""
		}
		var args []string
		if i := c.Sheet; i >= 0 && i < len(c.Sheets) {
			args = append(args, "sheet_name="+literal(c.Sheets[i].Name))
		}
		if c.SkipRows > 0 {
			args = append(args, fmt.Sprintf("skiprows=%d", c.SkipRows))
		}
		if c.HeaderRow == 0 && len(c.Columns) > 0 && len(c.Columns) <= 30 {
			var names []string
			for _, col := range c.Columns {
				names = append(names, col.Name)
			}
			args = append(args, "header=None, names="+literals(names))
		}
		// pandas makes numbers of text cells too.
		var text []string
		for _, col := range c.Columns {
			if col.Type == ID || col.Plain {
				text = append(text, literal(col.Name)+": str")
			}
		}
		if len(text) > 0 && len(text) <= 30 {
			args = append(args, "dtype={"+strings.Join(text, ", ")+"}")
		} else if len(text) > 0 {
			args = append(args, "dtype=str")
		}
		return "import pandas as pd\ndf = pd.read_excel(" + name + tail(args) + ")"
	case JSON:
		open := fmt.Sprintf("import json\ndata = json.load(open(%s, encoding=%s))", name, literal(c.Encoding))
		switch {
		case len(c.Columns) == 0:
			return open
		case c.Key != "":
			return "import pandas as pd\n" + open + "\ndf = pd.json_normalize(data[" + literal(c.Key) + "])"
		}
		return "import pandas as pd\n" + open + "\ndf = pd.json_normalize(data)"
	case JSONL:
		return fmt.Sprintf("import json\nimport pandas as pd\ndf = pd.json_normalize([json.loads(s) for s in open(%s, encoding=%s) if s.strip()])", name, literal(c.Encoding))
	case Parquet:
		return "import pandas as pd\ndf = pd.read_parquet(" + name + ")"
	case SQLite:
		s := "import sqlite3\nimport pandas as pd\ncon = sqlite3.connect(" + name + ")\n"
		if c.Table != "" {
			return s + "df = pd.read_sql(" + literal(`select * from "`+strings.ReplaceAll(c.Table, `"`, `""`)+`"`) + ", con)"
		}
		return s + `df = pd.read_sql("select name, sql from sqlite_master where type = 'table'", con)`
	case Text:
		errs := ""
		if c.Replace {
			errs = `, errors="replace"`
		}
		return fmt.Sprintf("text = open(%s, encoding=%s%s).read()", name, literal(c.Encoding), errs)
	case PDF:
		return "import pypdf\ntext = \"\\n\".join(p.extract_text() for p in pypdf.PdfReader(" + name + ").pages)"
	case Image:
		return "from PIL import Image\nimg = Image.open(" + name + ")"
	case ZIP:
		return "import zipfile\nz = zipfile.ZipFile(" + name + ")\nnames = z.namelist()"
	case GZip:
		enc := c.Encoding
		if enc == "" {
			return "import gzip\ndata = gzip.open(" + name + ", \"rb\").read()"
		}
		return fmt.Sprintf("import gzip\ntext = gzip.open(%s, \"rt\", encoding=%s).read()", name, literal(enc))
	}
	return ""
}
