// Command gitops computes what tools that wait think of an object, with the libraries of these
// tools: kstatus (helm and Flux), Lua (Argo CD) and CEL (Flux).
//
// It reads one JSON question per line and writes one JSON answer per line:
//
//	{"kstatus": OBJECT}                       {"status": "InProgress", "message": "..."}
//	{"lua": SCRIPT, "object": OBJECT}         {"status": "Healthy", "message": "..."}
//	{"cel": EXPRESSION, "object": OBJECT}     {"value": true}
//
// An error is the answer {"error": "..."}.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/google/cel-go/cel"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type question struct {
	Kstatus json.RawMessage `json:"kstatus"`
	Lua     string          `json:"lua"`
	Cel     string          `json:"cel"`
	Object  map[string]any  `json:"object"`
}

type answer struct {
	Status  string `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
	Value   any    `json:"value,omitempty"`
	Error   string `json:"error,omitempty"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		found, err := ask(lines.Bytes())
		if err != nil {
			found = answer{Error: err.Error()}
		}
		if err := answers.Encode(found); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func ask(line []byte) (answer, error) {
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{}, err
	}
	switch {
	case asked.Kstatus != nil:
		return byKstatus(asked.Kstatus)
	case asked.Lua != "":
		return byLua(asked.Lua, asked.Object)
	default:
		return byCel(asked.Cel, asked.Object)
	}
}

func byKstatus(object []byte) (answer, error) {
	// This decoder reads whole numbers as int64, as from an API server; kstatus needs that.
	var read unstructured.Unstructured
	if err := read.UnmarshalJSON(object); err != nil {
		return answer{}, err
	}
	result, err := status.Compute(&read)
	if err != nil {
		return answer{}, err
	}
	return answer{Status: result.Status.String(), Message: result.Message}, nil
}

// byLua runs a health check of Argo CD: it reads the table obj and returns a table.
func byLua(script string, object map[string]any) (answer, error) {
	state := lua.NewState()
	defer state.Close()
	state.SetGlobal("obj", toLua(state, object))
	if err := state.DoString(script); err != nil {
		return answer{}, err
	}
	health, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return answer{}, fmt.Errorf("the script returned %s, expected a table", state.Get(-1).Type())
	}
	return answer{
		Status:  lua.LVAsString(health.RawGetString("status")),
		Message: lua.LVAsString(health.RawGetString("message")),
	}, nil
}

func toLua(state *lua.LState, value any) lua.LValue {
	switch found := value.(type) {
	case map[string]any:
		table := state.NewTable()
		for key, inner := range found {
			table.RawSetString(key, toLua(state, inner))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, inner := range found {
			table.Append(toLua(state, inner))
		}
		return table
	case string:
		return lua.LString(found)
	case float64:
		return lua.LNumber(found)
	case bool:
		return lua.LBool(found)
	default:
		return lua.LNil
	}
}

// byCel evaluates an expression of Flux, in which the fields of the object are variables.
func byCel(expression string, object map[string]any) (answer, error) {
	variables := []cel.EnvOption{}
	for _, name := range []string{"apiVersion", "kind", "metadata", "spec", "status"} {
		variables = append(variables, cel.Variable(name, cel.DynType))
	}
	environment, err := cel.NewEnv(variables...)
	if err != nil {
		return answer{}, err
	}
	checked, issues := environment.Compile(expression)
	if issues.Err() != nil {
		return answer{}, issues.Err()
	}
	program, err := environment.Program(checked)
	if err != nil {
		return answer{}, err
	}
	value, _, err := program.Eval(object)
	if err != nil {
		return answer{}, err
	}
	return answer{Value: value.Value()}, nil
}
