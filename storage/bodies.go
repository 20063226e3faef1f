package storage

// User is the body of a [UserSaid] entry.
type User struct {
	Text  string `json:"text"`
	Files []File `json:"files,omitempty"` // attached with this message
	// Place is what the model is told about the folder that the chat works in,
	// when it is new to it.
	Place string `json:"place,omitempty"`
}

// A File is an attachment or a file that a run made.
type File struct {
	Name string `json:"name"`           // as the code sees it, relative to the workspace
	Path string `json:"path,omitempty"` // where the original is; attachments only
	Size int64  `json:"size"`           // bytes
	Blob string `json:"blob,omitempty"` // hash of the kept content; results only
	MIME string `json:"mime,omitempty"`
	Card string `json:"card,omitempty"` // what the model is told about it; attachments only
	// Summary is a line for people about what is in an attachment.
	Summary string `json:"summary,omitempty"`
}

// Assistant is the body of an [AssistantSaid] entry.
type Assistant struct {
	Text        string `json:"text,omitempty"`
	Calls       []Call `json:"calls,omitempty"`
	Model       string `json:"model,omitempty"`
	Harness     string `json:"harness,omitempty"`
	Stop        string `json:"stop,omitempty"` // "end", "calls", "length"
	Usage       Usage  `json:"usage"`
	Interrupted bool   `json:"interrupted,omitempty"` // the stream ended before the model did
	// Rejected says why this did not stand as the answer; another one follows.
	Rejected string `json:"rejected,omitempty"`
	// Unsupported lists numbers of Text that no output of the chat shows.
	Unsupported []string `json:"unsupported,omitempty"`
}

// A Call is code the model wants to run.
type Call struct {
	ID       string `json:"id"`
	Language string `json:"language"`
	Code     string `json:"code"`
}

// Usage counts tokens and time of one answer.
type Usage struct {
	Prompt  int     `json:"prompt"`  // tokens
	Cached  int     `json:"cached"`  // of these, not evaluated again
	Output  int     `json:"output"`  // tokens
	Seconds float64 `json:"seconds"` // wall time
}

// Decision is the body of a [CallDecided] entry.
type Decision struct {
	Call  string `json:"call"`
	Allow bool   `json:"allow"`
	By    string `json:"by"`             // "person" or "policy"
	Note  string `json:"note,omitempty"` // why not, told to the model
	Code  string `json:"code,omitempty"` // the person's edited version, if edited
	// Stage is "after" when the code had run already and its effects were
	// decided about; else "".
	Stage string `json:"stage,omitempty"`
	// Needs are the reasons of the question, as sentences.
	Needs []string `json:"needs,omitempty"`
}

// Result is the body of a [CallEnded] entry.
type Result struct {
	Call    string   `json:"call"`
	Status  string   `json:"status"` // "ok", "error", "interrupted", "timeout", "died", "denied", "lost"
	Outputs []Output `json:"outputs,omitempty"`
	Error   *Error   `json:"error,omitempty"`
	Note    string   `json:"note,omitempty"` // a sentence for the person
	Files   []File   `json:"files,omitempty"`
	// Digest is what the model is told of the output: head, tail and error lines.
	Digest  string  `json:"digest,omitempty"`
	Seconds float64 `json:"seconds"`
	Log     string  `json:"log,omitempty"` // blob with the whole output, when it was cut here
	Cut     int64   `json:"cut,omitempty"` // bytes left out here
	// Receipt is what the boundary saw of the run; nil for what never ran.
	Receipt *Receipt `json:"receipt,omitempty"`
}

// A Receipt says under which boundary a run took place, and what it was refused
// and used.
type Receipt struct {
	Preset    string     `json:"preset"`
	Level     string     `json:"level"`  // "full" or "reduced"
	Layers    []string   `json:"layers"` // in force, outermost first
	Denials   []Denial   `json:"denials"`
	Usage     RunUsage   `json:"usage"`
	Exit      string     `json:"exit"`    // a sentence when the interpreter ended, else ""
	Inputs    []FileHash `json:"inputs"`  // the attached files
	Outputs   []FileHash `json:"outputs"` // the files that the run made
	Explained []string   `json:"explained"`
}

// A Denial is something that the boundary refused, however often.
type Denial struct {
	Kind  string `json:"kind" enum:"file,network,call,limit"`
	What  string `json:"what"`  // a path, "host:port", the name of a system call or limit
	Layer string `json:"layer"` // what refused it, or who says so
	Count int64  `json:"count"`
}

// RunUsage is what a run has used.
type RunUsage struct {
	Wall     float64  `json:"wall"`   // seconds
	CPU      float64  `json:"cpu"`    // seconds of all processes together
	Memory   int64    `json:"memory"` // bytes, the highest seen
	Procs    int      `json:"procs"`  // processes and threads, the highest seen
	Written  int64    `json:"written"`
	Sent     int64    `json:"sent"`
	Received int64    `json:"received"`
	Hosts    []string `json:"hosts"` // that were connected to
}

// A FileHash names a content. SHA256 is empty for a file that was too large to
// be read in time.
type FileHash struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"` // hex
	Size   int64  `json:"size"`   // bytes
}

// Output is one piece of what a run showed, in order.
type Output struct {
	Stream string `json:"stream,omitempty"` // "stdout" or "stderr", with Text
	Text   string `json:"text,omitempty"`
	MIME   string `json:"mime,omitempty"`  // "image/png", "application/vnd.atoll.table+json", "text/plain"
	Blob   string `json:"blob,omitempty"`  // content by hash, with MIME
	Plain  string `json:"plain,omitempty"` // text form of a displayed object
}

// Error is an exception of the program that ran.
type Error struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Line    int    `json:"line,omitempty"`
	Trace   string `json:"trace"`
	Hint    string `json:"hint,omitempty"`
}

// Fault is the body of a [Failed] entry: why a turn ended without an answer.
type Fault struct {
	Code   string `json:"code"`
	Title  string `json:"title"`
	Hint   string `json:"hint,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// Damage is the body of a [Damaged] entry: what is left of one that cannot be
// read.
type Damage struct {
	Size   int    `json:"size"`   // bytes stored
	Reason string `json:"reason"` // for the curious, not a sentence for people
}

// BlobHashes returns the hashes that r refers to.
func (r Result) BlobHashes() []string {
	var hs []string
	add := func(h string) {
		if h != "" {
			hs = append(hs, h)
		}
	}
	for _, o := range r.Outputs {
		add(o.Blob)
	}
	for _, f := range r.Files {
		add(f.Blob)
	}
	add(r.Log)
	return hs
}
