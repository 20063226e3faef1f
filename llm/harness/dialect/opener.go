package dialect

// form says how a call that was opened by a token is read.
type form int

const (
	formTagged   form = iota // <tool_call>
	formFunction             // <function=
	formInvoke               // <invoke
	formInvokes              // <function_calls>
	formList                 // [TOOL_CALLS]
	formPython               // <|python_tag|>
	formDeep                 // a section of DeepSeek
	formDeepCall             // a call without a section
	formKimi                 // a section of Kimi
	formKimiCall             // a call without a section
	formHarmony              // a message with a recipient
)

// An opener is a token that changes what follows it.
type opener struct {
	token string
	what  state
	form  form   // of a call
	end   string // of a thought
	line  bool   // only where nothing stands before it in its line
	keep  bool   // it is part of what is read
	drop  bool   // it says nothing by itself
}

// space is the prefix of Claude's tags in some of its versions.
const space = "antml:"

// openers are sought in prose. Of two that fit, the longer counts.
var openers = []opener{
	{token: "<tool_call>", what: call, form: formTagged},
	{token: "<function=", what: call, form: formFunction, keep: true},
	{token: "<function_calls>", what: call, form: formInvokes},
	{token: "<" + space + "function_calls>", what: call, form: formInvokes},
	{token: "<｜DSML｜function_calls>", what: call, form: formInvokes},
	{token: "<minimax:tool_call>", what: call, form: formInvokes},
	{token: `<invoke name="`, what: call, form: formInvoke, keep: true},
	{token: "<" + space + `invoke name="`, what: call, form: formInvoke, keep: true},
	{token: "[TOOL_CALLS]", what: call, form: formList},
	{token: "<|python_tag|>", what: call, form: formPython},
	{token: deepBegin, what: call, form: formDeep},
	{token: deepCall, what: call, form: formDeepCall, keep: true},
	{token: kimiBegin, what: call, form: formKimi},
	{token: kimiCall, what: call, form: formKimiCall, keep: true},
	{token: "<|channel|>", what: call, form: formHarmony},
	{token: "<|start|>assistant", what: call, form: formHarmony},
	{token: "<|end|><|start|>assistant", what: call, form: formHarmony},

	{token: "<think>", what: think, end: "</think>", line: true},
	{token: "<thinking>", what: think, end: "</thinking>", line: true},
	{token: "<thought>", what: think, end: "</thought>", line: true},
	{token: "<reasoning>", what: think, end: "</reasoning>", line: true},
	{token: "[THINK]", what: think, end: "[/THINK]", line: true},
	{token: "◁think▷", what: think, end: "◁/think▷", line: true},

	// The turn of somebody else: the model's own is over.
	{token: "<|im_start|>", what: over, line: true},
	{token: "<|start_header_id|>", what: over, line: true},
	{token: "<start_of_turn>", what: over, line: true},
	{token: "<｜User｜>", what: over, line: true},
	{token: "<|start|>", what: over, line: true},
	{token: "<tool_response>", what: over, line: true},
	{token: "<function_results>", what: over, line: true},
	{token: "[TOOL_RESULTS]", what: over, line: true},
	{token: "<｜tool▁outputs▁begin｜>", what: over, line: true},

	{token: "<|im_start|>assistant", drop: true, line: true},
	{token: "<|start_header_id|>assistant<|end_header_id|>", drop: true, line: true},
	{token: "<start_of_turn>model", drop: true, line: true},
	{token: "<｜Assistant｜>", drop: true, line: true},
	{token: deepEnd, drop: true},
	{token: kimiEnd, drop: true},
	{token: "</tool_call>", drop: true},
	{token: "</function_calls>", drop: true},
	{token: "</" + space + "function_calls>", drop: true},
	{token: "</think>", drop: true},
	{token: "</minimax:tool_call>", drop: true},
	{token: "<|call|>", drop: true},
	{token: "<|eom_id|>", drop: true},
}
