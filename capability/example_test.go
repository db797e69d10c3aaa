package capability_test

import (
	"context"
	"fmt"

	"github.com/executable-markdown/xmd/capability"
)

// A host states an operation of its own, captures the profile, and grants a fragment
// what it may read.
func Example() {
	ctx := context.Background()
	captured, err := capability.Capture(ctx, capability.Profile{
		Name: "weather desk",
		Read: []capability.Entry{{
			Name:     "Forecast",
			Identity: capability.Identity{Origin: "com.example", Key: "Forecast", Revision: 1},
			Forms:    capability.SelfClosing,
			Props:    `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}`,
			Returns:  `{"type":"string"}`,
			Effect:   capability.Read,
			Describe: "Tells tomorrow's weather in a city.",
			Op: capability.Op{Do: func(_ context.Context, c capability.Call) (any, error) {
				city, _ := c.Props.String("city")
				return "Rain in " + city + ".", nil
			}},
		}},
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
	for name, v := range grant.Policy().All() {
		if name == "allow" || name == "dialect" {
			fmt.Println(name, v)
		}
	}

	forecast, _ := grant.Lookup("Forecast", capability.SelfClosing)
	props := &capability.Object{}
	props.Set("city", "Bergen")
	if refused := forecast.Check(capability.Use{Form: capability.SelfClosing, Props: props}); refused != nil {
		fmt.Println(refused)
		return
	}
	fmt.Println(forecast.Do(ctx, capability.Call{Element: "Forecast", Form: capability.SelfClosing, Props: props}))
	// Output:
	// allow [read]
	// dialect flat
	// Rain in Bergen. <nil>
}
