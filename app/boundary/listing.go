package boundary

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"atoll/storage"
)

// maxNames bounds what a model is told of a folder: reading is slow.
const maxNames = 30

// Listing says, for a model, where the project is and what lies in it; "" for
// chats without one. Hidden files are left out.
func Listing(p storage.ChatPolicy) string {
	if p.Preset != Project {
		return ""
	}
	entries, err := os.ReadDir(p.Project)
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := ProjectLink + "/" + e.Name()
		if e.IsDir() {
			name += "/"
		}
		names = append(names, strconv.Quote(name)) // a name may hold anything
	}
	if len(names) == 0 {
		return fmt.Sprintf("The user's project folder is %q. It is empty.", ProjectLink)
	}
	rest := ""
	if n := len(names) - maxNames; n > 0 {
		names, rest = names[:maxNames], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("The user's project folder is %q. In it: %s%s.", ProjectLink, strings.Join(names, ", "), rest)
}
