package preview

func (c *Card) sqlite(s source, head []byte) { c.Kind = SQLite }
