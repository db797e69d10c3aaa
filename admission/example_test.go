package admission_test

import (
	"context"
	"fmt"

	"github.com/executable-markdown/xmd/admission"
	"github.com/executable-markdown/xmd/capability"
)

// A host states what a fragment may do, and reads what an Agent wrote under it.
func Example() {
	captured, err := capability.Capture(context.Background(), capability.Profile{
		Name: "greetings",
		Read: []capability.Entry{{
			Name:     "Greet",
			Identity: capability.Identity{Origin: "com.example", Key: "Greet", Revision: 1},
			Forms:    capability.SelfClosing,
			Props:    `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`,
			Returns:  `{"type":"string"}`,
			Effect:   capability.Read,
			Describe: "Greets somebody.",
			Op: capability.Op{Do: func(_ context.Context, c capability.Call) (any, error) {
				name, _ := c.Props.String("name")
				return "Hello, " + name + "!", nil
			}},
		}},
		Dialect: capability.Closed,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer captured.Revoke()
	grant, err := captured.Select(capability.ReadClass)
	if err != nil {
		fmt.Println(err)
		return
	}

	for _, source := range []string{
		`<Let as="who" value="World" />She said: <Greet name={who} />`,
		`<Greet name="World" /><Exec cmd="id" />`,
	} {
		decision := admission.Preflight("example", source, grant)
		if decision.Refusal != nil {
			fmt.Println("refused:", decision.Refusal)
			continue
		}
		for _, n := range decision.Named {
			fmt.Printf("admitted: <%s> at %d:%d is %s\n", n.Name, n.Line, n.Column, n.Identity)
		}
	}
	// Output:
	// admitted: <Greet> at 1:41 is com.example/Greet@1
	// refused: a generated fragment names a component this host did not admit.
}
