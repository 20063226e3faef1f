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
		args := c.excelArgs()
		return "import pandas as pd\ndf = pd.read_excel(" + name + args.String() + ")"
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
	case Arrow:
		return "import pandas as pd\ndf = pd.read_feather(" + name + ")"
	case Fixed:
		args, clean := c.fixedArgs()
		s := "import pandas as pd\ndf = pd.read_fwf(" + name + args.String() + ")"
		for _, col := range clean {
			s += "\n" + col.clean(literal(col.Name))
		}
		return s
	case HTML:
		if c.ColumnCount == 0 {
			return fmt.Sprintf("text = open(%s, encoding=%s).read()", name, literal(c.Encoding))
		}
		return fmt.Sprintf("import pandas as pd\ndf = pd.read_html(%s, encoding=%s)[%d]", name, literal(c.Encoding), c.Sheet)
	case XML:
		if c.Key == "" {
			return "import xml.etree.ElementTree as ET\nroot = ET.parse(" + name + ").getroot()"
		}
		return "import pandas as pd\ndf = pd.read_xml(" + name + ", xpath=" + literal(".//"+c.Key) + ")"
	case Notebook:
		return "import json\ncells = [(c[\"cell_type\"], \"\".join(c[\"source\"])) for c in json.load(open(" + name + ", encoding=\"utf-8\"))[\"cells\"]]"
	case TAR:
		return "import tarfile\nt = tarfile.open(" + name + ")\nnames = t.getnames()"
	case Folder:
		return "import os\nnames = sorted(os.listdir(" + name + "))"
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

// excelArgs is the arguments of read_excel.
func (c Card) excelArgs() (args arguments) {
	if i := c.Sheet; i >= 0 && i < len(c.Sheets) {
		args.text("sheet_name", c.Sheets[i].Name)
	}
	if c.SkipRows > 0 {
		args.add("skiprows", fmt.Sprint(c.SkipRows), c.SkipRows)
	}
	if c.HeaderRow == 0 && len(c.Columns) > 0 && len(c.Columns) <= 30 {
		args.add("header", "None", nil)
		args.add("names", literals(c.names()), c.names())
	}
	// pandas makes numbers of text cells too.
	var text, codes []string
	var values []any
	for _, col := range c.Columns {
		if col.Type == ID || col.Plain {
			text, codes, values = append(text, col.Name), append(codes, "str"), append(values, "str")
		}
	}
	if len(text) > 30 {
		args.add("dtype", "str", "str")
	} else {
		args.pairs("dtype", text, codes, values)
	}
	return args
}
