package harness

import "atoll/llm"

// A Malformed is an [llm.ErrMalformed] that the model can be told: what was
// wrong with its answer, and how a call is written.
type Malformed struct {
	Dialect string `json:"dialect"`        // how calls should be written, such as "hermes"
	Why     string `json:"why"`            // what is wrong, as a clause: "the call has no code"
	Want    string `json:"want,omitempty"` // a call as it should be written
}

// Error says what is wrong.
func (m *Malformed) Error() string { return llm.ErrMalformed.Error() + ": " + m.Why }

// Unwrap returns [llm.ErrMalformed].
func (m *Malformed) Unwrap() error { return llm.ErrMalformed }

// Ask is what to say to the model, so that its next answer can be read.
func (m *Malformed) Ask() string {
	s := "Your last answer could not be used: " + m.Why + "."
	if m.Want != "" {
		s += " Write the call exactly like this:\n" + m.Want
	}
	return s
}
