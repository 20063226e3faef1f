package sandbox

import "fmt"

// whatToDo is the remedy where a self-check has failed.
const whatToDo = "Run `atoll sandbox test` and report what it says; until then no code is run here."

// seatbeltWeak are the guarantees that macOS does not give, or that nobody has
// seen it give. They make the level reduced at best.
var seatbeltWeak = []Guarantee{
	{Name: "tried on this system", Detail: "Those who wrote this had no Mac: the trials of the self-check are all that was ever run.",
		Fix: "Run `atoll sandbox test`, which makes all attempts of the escape suite."},
	{Name: "kill", Detail: "Processes are found by looking every 20 to 100 ms: one that leaves its group, its session and its parent between two looks outlives the end."},
	{Name: "namespaces", Detail: "The program shares the machine's process numbers, users and clock, and a few of its services."},
	{Name: "hidden files", Detail: "The content, size and list of other files and folders is closed, but the program can find out whether a name that it knows exists."},
	{Name: "effect layers", Detail: "What a program writes cannot be held back, so that its effects are seen only after they have happened."},
	{Name: "network modes", Detail: "There is no network, or no start: the promise that this machine's own servers are out of reach could not be kept with one."},
	{Name: "memory limit", Detail: "Memory is counted every 20 to 100 ms and the tree is ended; the kernel itself sets no bound, so that a fast program passes the limit for a moment."},
	{Name: "process limit", Detail: "Processes are counted every 20 to 100 ms; the kernel's own bound is for all of the user's processes together, and none for root."},
	{Name: "processor time limit", Detail: "The time of processes that have lost their parent, and then ended, is not counted."},
	{Name: "disk limit", Detail: "Growth of the writable folders is measured again and again; files that are deleted but open are not seen, only the free space is."},
	{Name: "record of refusals", Detail: "What Seatbelt refuses is refused, but not counted."},
}

// seatbeltLevelOf judges a self-check; err says why it came to no end.
func seatbeltLevelOf(found []trial, err error) Level {
	l := levelOf(found, seatbeltWeak)
	if err != nil {
		l.Name = LevelNone
		unfinished := Guarantee{Name: "sandbox", Detail: "The self-check came to no end: " + err.Error() + ".", Fix: whatToDo}
		l.Guarantees = append([]Guarantee{unfinished}, l.Guarantees...)
	}
	return l
}

// whyNone is the reason for a level at which nothing is started.
func whyNone(l Level) string {
	for _, g := range l.Guarantees {
		if !g.Holds {
			return fmt.Sprintf("the self-check of the sandbox has failed at %q. %s %s", g.Name, g.Detail, g.Fix)
		}
	}
	return "the self-check of the sandbox has failed."
}
