package sandbox

// Protected returns what must stay read-only inside the writable tree root
// because a program of the host runs or obeys it later: the hooks and settings
// of version control, editors, shells and Python. Only what exists is listed,
// as absolute paths. To be done.
func Protected(root string) ([]string, error) { return nil, nil }
