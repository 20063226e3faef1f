package preview

import "time"

// A step is one part of a layout of digits: a field, or a sign between fields.
type step struct {
	field byte // of strptime: Y y m d H M S; 0: the sign
	sign  byte
	wide  bool // exactly two digits
}

// compile makes the steps of a layout that has digits only; nil for others.
func compile(python, golang string) (steps []step) {
	wide := len(golang) >= 4 && golang[:4] == "2006" // 2006-01-02 wants two digits, 2.1.2006 takes one
	for i := 0; i < len(python); i++ {
		if python[i] != '%' {
			steps = append(steps, step{sign: python[i]})
			continue
		}
		i++
		switch f := python[i]; f {
		case 'Y', 'y', 'M', 'S':
			steps = append(steps, step{field: f, wide: true})
		case 'H':
			steps = append(steps, step{field: f})
		case 'm', 'd':
			steps = append(steps, step{field: f, wide: wide})
		default:
			return nil
		}
	}
	return steps
}

// quick reads s as time.Parse does, in a tenth of the time. sure is false where
// it does not know; then time.Parse must be asked.
func quick(steps []step, s string) (t time.Time, ok, sure bool) {
	if steps == nil {
		return t, false, false
	}
	year, month, day, hour, minute, second := 0, 1, 1, 0, 0, 0
	i := 0
	digit := func(k int) bool { return k < len(s) && s[k]-'0' <= 9 }
	for _, st := range steps {
		if st.field == 0 {
			if st.sign == ' ' && (i >= len(s) || i+1 < len(s) && s[i+1] == ' ') {
				return t, false, false
			}
			if i >= len(s) || s[i] != st.sign {
				return t, false, st.sign != ' '
			}
			i++
			continue
		}
		if !digit(i) {
			return t, false, true
		}
		n, v := 1, int(s[i]-'0')
		most := 2
		if st.field == 'Y' {
			most = 4
		}
		for n < most && digit(i+n) {
			v = v*10 + int(s[i+n]-'0')
			n++
		}
		if st.wide && n < most {
			return t, false, true
		}
		i += n
		switch st.field {
		case 'Y':
			year = v
		case 'y':
			if year = v + 2000; v >= 69 {
				year = v + 1900
			}
		case 'm':
			month = v
		case 'd':
			day = v
		case 'H':
			hour = v
		case 'M':
			minute = v
		case 'S':
			second = v
		}
	}
	if i < len(s) {
		return t, false, s[i] != '.' && s[i] != ',' && s[i] != ' '
	}
	if month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59 {
		return t, false, true
	}
	t = time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	if t.Day() != day {
		return time.Time{}, false, true
	}
	return t, true, true
}
