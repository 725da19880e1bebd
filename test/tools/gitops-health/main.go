// Command gitops-health reads a JSON array of Kubernetes objects from standard input and prints, as a
// JSON array, the verdict of kstatus (Flux, kpt, cli-utils) and of a health check of Argo CD in Lua for
// each of them.
//
//	gitops-health health.lua < objects.json
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

// Argo CD ends a script after one second.
const scriptTimeout = time.Second

type verdict struct {
	Kstatus string `json:"kstatus"`
	Message string `json:"message"`
	Argocd  health `json:"argocd"`
}

type health struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("expected the path of a Lua script")
	}
	script, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	var objects []map[string]any
	if err := json.NewDecoder(os.Stdin).Decode(&objects); err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	verdicts := make([]verdict, 0, len(objects))
	for i, object := range objects {
		found, err := assess(object, string(script))
		if err != nil {
			return fmt.Errorf("object %d: %w", i, err)
		}
		verdicts = append(verdicts, found)
	}
	return json.NewEncoder(os.Stdout).Encode(verdicts)
}

func assess(object map[string]any, script string) (verdict, error) {
	argocd, err := runHealthCheck(script, object)
	if err != nil {
		return verdict{}, fmt.Errorf("health check: %w", err)
	}
	// Numbers as the clients of Kubernetes decode them.
	encoded, err := json.Marshal(object)
	if err != nil {
		return verdict{}, err
	}
	resource := &unstructured.Unstructured{}
	if err := resource.UnmarshalJSON(encoded); err != nil {
		return verdict{}, err
	}
	result, err := status.Compute(resource)
	if err != nil {
		return verdict{}, fmt.Errorf("kstatus: %w", err)
	}
	return verdict{Kstatus: result.Status.String(), Message: result.Message, Argocd: argocd}, nil
}

// runHealthCheck runs the script as Argo CD does: with the libraries base and table, and the object as
// the global obj.
func runHealthCheck(script string, object map[string]any) (health, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage,
		lua.BaseLibName: lua.OpenBase,
		lua.TabLibName:  lua.OpenTable,
	} {
		call := lua.P{Fn: state.NewFunction(open), NRet: 0, Protect: true}
		if err := state.CallByParam(call, lua.LString(name)); err != nil {
			return health{}, err
		}
	}
	limit, cancel := context.WithTimeout(context.Background(), scriptTimeout)
	defer cancel()
	state.SetContext(limit)
	state.SetGlobal("obj", toLua(state, object))
	if err := state.DoString(script); err != nil {
		return health{}, err
	}
	returned, isTable := state.Get(-1).(*lua.LTable)
	if !isTable {
		return health{}, fmt.Errorf("returned %s, expected a table", state.Get(-1).Type())
	}
	return health{
		Status:  lua.LVAsString(returned.RawGetString("status")),
		Message: lua.LVAsString(returned.RawGetString("message")),
	}, nil
}

func toLua(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case bool:
		return lua.LBool(value)
	case float64:
		return lua.LNumber(value)
	case string:
		return lua.LString(value)
	case []any:
		list := state.CreateTable(len(value), 0)
		for _, item := range value {
			list.Append(toLua(state, item))
		}
		return list
	case map[string]any:
		table := state.CreateTable(0, len(value))
		for key, item := range value {
			table.RawSetString(key, toLua(state, item))
		}
		return table
	default:
		return lua.LNil
	}
}
