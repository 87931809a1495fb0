package cli

import (
	"fmt"
	"os/exec"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/pipe"
)

// adapters are the providers whose adapters are programs of their own, for the sake of the
// SDKs in them, with the modules that have the programs.
var adapters = map[string]string{
	"azure":   "azure",
	"bedrock": "bedrock",
	"vertex":  "vertex",
}

// adapted makes a model of such a provider, or at an endpoint with its wire. The program is
// started once for all models.
func (env *environment) adapted(provider, name string, at *pipe.Endpoint) pawl.Model {
	module := adapters[provider]
	p := pipe.New(func() (*exec.Cmd, error) {
		program := "pawl-" + module
		path, err := beside(program)
		if err != nil {
			return nil, fmt.Errorf("%s models take the program %s, which is neither beside pawl nor in the PATH; install it with: go install github.com/pawl-run/pawl/model/%s/cmd/%s@latest%w", provider, program, module, program, silent{err})
		}
		c := exec.Command(path, pipe.Argument) //nolint:noctx // the program serves all runs of this process
		c.Env = env.environ
		return c, nil
	})
	if env.programs != nil {
		if shared, ok := env.programs.LoadOrStore(module, p); ok {
			p, _ = shared.(*pipe.Program)
		}
	}
	return p.Model(provider+"/"+name, at)
}

// silent is an error that another one has said.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }
