package kernel

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"atoll/sandbox"
)

// AttemptsVariable names, for the program of [AttemptsHook], the descriptor on
// which it says what was tried.
const AttemptsVariable = "ATOLL_ATTEMPTS"

// AttemptsHook returns the text of a sitecustomize.py with which any Python says
// at its end what it looked for outside of its view, as the kernel does after
// each run. roots are what it can see beside the system's folders.
func AttemptsHook(roots []string) (string, error) {
	b, err := driver.ReadFile("driver/attempts.py")
	if err != nil {
		return "", err
	}
	seen, err := json.Marshal(roots)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(`import atexit, json, os, sys
class S:
    live, forked = True, False
HOME, CONF, clean = os.getcwd(), {'roots': json.loads(%s)}, str
%s
def _tell(pid=os.getpid(), fd=int(os.environ.pop(%q, -1)), write=os.write, dumps=json.dumps):
    if fd >= 0 and os.getpid() == pid:
        try:
            write(fd, dumps(attempts()).encode('utf-8', 'replace') + b'\n')
        except OSError:
            pass
atexit.register(_tell)
`, strconv.QuoteToASCII(string(seen)), b, AttemptsVariable), nil
}

// ReadAttempts reads what the hook says until r ends; anything else is passed
// over.
func ReadAttempts(r io.Reader) []sandbox.Denial {
	var list []tried
	const most = 1 << 20
	line, err := readLine(bufio.NewReader(io.LimitReader(r, most)), most)
	if err == nil && json.Unmarshal(line, &list) != nil {
		list = nil
	}
	// What else comes is read, so that nobody waits for it to be.
	_, _ = io.Copy(io.Discard, r)
	return denials(list)
}
