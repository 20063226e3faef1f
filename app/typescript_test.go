package app

import (
	"flag"
	"os"
	"reflect"
	"testing"

	"atoll/app/api"
	"atoll/app/boundary"
	"atoll/app/chats"
	"atoll/app/doctor"
	"atoll/app/event"
	"atoll/app/models"
	"atoll/sandbox/escape"
	"atoll/sandbox/kernel"
	"atoll/storage"
)

var update = flag.Bool("update", false, "write the page's types anew")

// TestTypeScript: the page's types are those of the table.
func TestTypeScript(t *testing.T) {
	const file = "../frontend/src/rpc/api.gen.ts"
	var table api.Table
	(&chats.Service{}).Register(&table)
	(&models.Service{}).Register(&table)
	doctor.Register(&table, doctor.Status{})
	doctor.SandboxTest{}.Register(&table)
	want := api.TypeScript(&table, map[reflect.Type]string{
		reflect.TypeFor[event.Turn]():     "TurnState",
		reflect.TypeFor[storage.Error]():  "ProgramError",
		reflect.TypeFor[models.Row]():     "ModelRow",
		reflect.TypeFor[models.Task]():    "TaskRef",
		reflect.TypeFor[models.Ref]():     "ModelRef",
		reflect.TypeFor[chats.View]():     "ChatView",
		reflect.TypeFor[chats.Verdict]():  "Attached",
		reflect.TypeFor[chats.Attached](): "Verdicts",
		reflect.TypeFor[chats.ID]():       "ChatID",
		reflect.TypeFor[doctor.View]():    "Status",
		reflect.TypeFor[boundary.View]():  "PolicyView",
		reflect.TypeFor[chats.PolicyOf](): "PolicyOf",
		reflect.TypeFor[escape.Report]():  "TestReport",
	}, reflect.TypeFor[event.Event](), reflect.TypeFor[storage.User](), reflect.TypeFor[storage.Assistant](),
		reflect.TypeFor[storage.Decision](), reflect.TypeFor[storage.Result](), reflect.TypeFor[kernel.Table]())
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Errorf("%s does not fit the table of methods: go test ./app -run TestTypeScript -update", file)
	}
}
