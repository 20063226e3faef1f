package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLineage(t *testing.T) {
	row := func(pid, parent, group, session int, start int64) procRow {
		return procRow{pid: pid, parent: parent, group: group, session: session, start: start, own: true}
	}
	ended := func(r procRow) procRow { r.ended = true; return r }
	others := []procRow{row(1, 0, 1, 1, 1), row(50, 1, 50, 50, 10), row(51, 50, 50, 50, 11), row(60, 50, 60, 60, 19)} // 60 is the helper
	program := row(100, 60, 100, 100, 20)
	foreign := row(101, 100, 100, 100, 30)
	foreign.own = false
	daemon := row(102, 101, 102, 102, 31)
	orphan := row(102, 1, 102, 102, 31)
	for name, tt := range map[string]struct {
		looks [][]procRow // one table after the other
		want  []int       // at the last
	}{
		"alone":                   {[][]procRow{{program}}, []int{100}},
		"child and grandchild":    {[][]procRow{{row(102, 101, 100, 100, 31), program, row(101, 100, 100, 100, 30)}}, []int{100, 101, 102}},
		"orphan in the group":     {[][]procRow{{program, row(101, 1, 100, 100, 30)}}, []int{100, 101}},
		"orphan in the session":   {[][]procRow{{program, row(101, 1, 101, 100, 30)}}, []int{100, 101}},
		"after the program":       {[][]procRow{{row(101, 1, 100, 100, 30)}}, []int{101}},
		"daemon that was seen":    {[][]procRow{{program, row(101, 100, 101, 101, 30), daemon}, {program, orphan}}, []int{100, 102}},
		"child of a known orphan": {[][]procRow{{program, row(101, 100, 101, 101, 30), daemon}, {orphan, row(103, 102, 103, 103, 40)}}, []int{102, 103}},
		"zombies do not live":     {[][]procRow{{program, ended(row(101, 100, 100, 100, 30))}}, []int{100}},
		// What the guarantee "kill" says does not hold.
		"daemon that was not seen": {[][]procRow{{program}, {program, orphan}}, []int{100}},
		"number given out again":   {[][]procRow{{program, row(101, 100, 101, 101, 30)}, {program, row(101, 1, 101, 101, 99)}}, []int{100}},
		"program's number given out again": {[][]procRow{{program, row(101, 100, 101, 101, 30)},
			{row(100, 50, 100, 100, 98), row(104, 100, 100, 100, 99), row(101, 1, 101, 101, 30)}}, []int{101}},
		"program that the kernel gives a new start": {[][]procRow{{program}, {row(100, 60, 100, 100, 25)}}, []int{100}},
		"another user": {[][]procRow{{program, foreign}}, []int{100}},
		"all gone":     {[][]procRow{{program}, {}}, []int{}},
	} {
		t.Run(name, func(t *testing.T) {
			l := &lineage{root: 100, helper: 60}
			var got []int
			for _, table := range tt.looks {
				got = l.living(append(slices.Clone(others), table...))
			}
			slices.Sort(got)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			last := l.last()
			slices.Sort(last)
			if d := cmp.Diff(got, last); d != "" {
				t.Error(d)
			}
		})
	}
}

// A number is killed only as long as it names the process that was found.
func TestLineageIs(t *testing.T) {
	l := &lineage{root: 100, helper: 60}
	program := procRow{pid: 100, parent: 60, group: 100, session: 100, start: 20, own: true}
	l.living([]procRow{program})
	later := program
	later.start = 21
	if !l.is(program) || l.is(later) || l.is(procRow{pid: 7, start: 20}) {
		t.Error("a process is taken for another")
	}
}

// procTable and procLine are the process table as macOS would give it.
func procTable() ([]procRow, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var rows []procRow
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if r, ok := procLine(pid); ok {
				rows = append(rows, r)
			}
		}
	}
	return rows, nil
}

func procLine(pid int) (procRow, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return procRow{}, false
	}
	f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	number := func(i int) int {
		n, _ := strconv.Atoi(f[i])
		return n
	}
	st, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	if err != nil {
		return procRow{}, false
	}
	return procRow{
		pid: pid, parent: number(1), group: number(2), session: number(3), start: int64(number(19)),
		ended: f[0] == "Z" || f[0] == "X", own: st.Sys().(*syscall.Stat_t).Uid == uint32(os.Geteuid()),
	}, true
}

// startLineage starts a shell as the helper of macOS would, and says when its
// last descendant is gone: the end of the pipe that all of them hold.
func startLineage(t *testing.T, script string) (*lineage, chan struct{}) {
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	l := &lineage{root: cmd.Process.Pid, helper: os.Getpid(), table: procTable, row: procLine}
	text := bufio.NewReader(out)
	for line := ""; line != "ready\n"; {
		if line, err = text.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		l.pids() // as the watcher does again and again
	}
	gone := make(chan struct{})
	go func() {
		_, _ = text.ReadString(0)
		close(gone)
	}()
	return l, gone
}

// daemons leaves a child in the group, one in a session of its own that ignores
// signals, and one of that in yet another.
const daemons = `sleep 300 & setsid sh -c 'trap "" TERM INT; setsid sleep 300 & echo daemon; sleep 300' & sleep 0.2; echo ready; `

func TestLineageEnds(t *testing.T) {
	l, gone := startLineage(t, daemons+"sleep 300")
	if n := len(l.pids()); n < 5 {
		t.Errorf("%d processes are seen", n)
	}
	if err := l.end(); err != nil {
		t.Error(err)
	}
	<-gone
	if left := l.pids(); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
}

func TestLineageSweeps(t *testing.T) {
	l, gone := startLineage(t, daemons+"exec sleep 300")
	s := l.sweeper(nil)
	if err := s.run(); err != nil {
		t.Error(err)
	}
	if left := l.pids(); !slices.Equal(left, []int{l.root}) {
		t.Errorf("after the sweep: %v, the program is %d", left, l.root)
	}
	l.table = func() ([]procRow, error) { return nil, errors.New("no table") }
	if left := l.pids(); !slices.Equal(left, []int{l.root}) {
		t.Errorf("without a table: %v", left)
	}
	if err := l.end(); !errors.Is(err, errNotSwept) {
		t.Errorf("without a table: %v", err)
	}
	<-gone
}
