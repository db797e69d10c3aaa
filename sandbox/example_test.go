package sandbox_test

import (
	"context"
	"fmt"

	"github.com/executable-markdown/xmd/admission"
	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/sandbox"
	"github.com/executable-markdown/xmd/wasm"
)

// A host states what a fragment may do; what an Agent wrote is read under it, compiled
// and evaluated.
func Example() {
	ctx := context.Background()
	runtime, err := sandbox.New(ctx)
	if err != nil {
		panic(err)
	}
	defer runtime.Close(ctx)
	captured, err := capability.Capture(ctx, capability.Profile{Name: "greetings", Read: []capability.Entry{greet}, Dialect: capability.Closed})
	if err != nil {
		panic(err)
	}
	defer captured.Revoke()
	grant, err := captured.Select(capability.ReadClass)
	if err != nil {
		panic(err)
	}

	for _, source := range []string{
		`<Each in={["Ada", "Alan"]} let="who"><Greet name={who} /> </Each>`,
		`<Greet name="" />`,
		`<Delete path="everything" />`,
	} {
		decision := admission.Preflight("example", source, grant)
		if decision.Refusal != nil {
			fmt.Println("refused:", decision.Refusal)
			continue
		}
		module, err := wasm.Compile(decision.Program)
		if err != nil {
			panic(err)
		}
		result, err := runtime.Run(ctx, module, grant, sandbox.Hooks{})
		if err != nil {
			fmt.Println("failed:", err)
			continue
		}
		fmt.Printf("%q, having seen %d values\n", result.Output, len(result.Observations))
	}
	// Output:
	// "Hello, Ada! Hello, Alan! ", having seen 2 values
	// failed: <Greet> at byte 0 of the fragment: nobody is there to greet
	// refused: a generated fragment names a component this host did not admit.
}

var greet = capability.Entry{
	Name:     "Greet",
	Identity: capability.Identity{Origin: "com.example", Key: "Greet", Revision: 1},
	Forms:    capability.SelfClosing,
	Props:    `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`,
	Returns:  `{"type":"string"}`,
	Effect:   capability.Read,
	Describe: "Greets somebody.",
	Op: capability.Op{Do: func(_ context.Context, c capability.Call) (any, error) {
		name, _ := c.Props.String("name")
		if name == "" {
			return nil, fmt.Errorf("nobody is there to greet")
		}
		return "Hello, " + name + "!", nil
	}},
}
