package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mattn/go-isatty"

	"atoll/app/approval"
	"atoll/app/chats"
	"atoll/app/event"
	"atoll/app/fault"
)

// decide asks the person at the terminal about a call.
func (a *asking) decide(ctx context.Context, ask event.Ask) error {
	a.event("ask", map[string]any{"call": ask.Call, "reasons": ask.Reasons, "stage": ask.Stage, "needs": ask.Needs})
	ans := chats.Answer{Ask: ask.ID}
	long := slices.ContainsFunc(ask.Needs, func(n event.Need) bool { return n.Effect == approval.Long })
	nobody := a.json || !isTerminal(a.In)
	if nobody && !long {
		return errNobody
	}
	if !nobody { // else the code is stopped, and the model goes on
		fmt.Fprintf(a.Err, "\n\n%s", question(ask, long))
		line, err := bufio.NewReader(a.In).ReadString('\n')
		if err != nil {
			return errNobody
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			ans.Allow = true
		case "a", "always":
			ans.Allow, ans.Always = true, ask.Stage == approval.StageBefore
		}
	}
	err := a.host.Call(ctx, "chats.answer", ans, nil)
	if long && ctx.Err() == nil {
		return nil // the code may have ended meanwhile
	}
	return err
}

// question is what a person at the terminal reads.
func question(ask event.Ask, long bool) string {
	var b strings.Builder
	if e := ask.Effects; e != nil {
		fmt.Fprintln(&b, "The code has run. Your files are as they were; it would do this:")
		for _, c := range e.Changes {
			fmt.Fprintf(&b, "  %-8s %s\n", c.Kind, oneName(c.Path))
		}
		if e.More > 0 {
			fmt.Fprintf(&b, "  and %d more\n", e.More)
		}
	}
	for _, n := range ask.Needs {
		if n.Effect != approval.Code {
			fmt.Fprintln(&b, printable(n.Why))
		}
	}
	switch {
	case long:
		b.WriteString("[y]es, [n]o: ")
	case ask.Stage == approval.StageAfter:
		b.WriteString("Apply these changes? [y]es, [n]o: ")
	default:
		fmt.Fprintf(&b, "Run this code in the sandbox? %s\n[y]es, [n]o, [a]lways in this chat: ", strings.Join(ask.Reasons, " "))
	}
	return b.String()
}

var errNobody = fault.WithExit(fault.ExitApproval, "approval.nobody", "The code needs approval and nobody is there to give it", "With --approve auto code runs without asking as long as its effects stay in the chat's folder; for what goes beyond, answer at a terminal or in the window.")

func isTerminal(r any) bool {
	f, ok := r.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}
