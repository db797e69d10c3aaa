package schema_test

import (
	"fmt"

	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

func ExampleProps() {
	declaration := value.Of(
		"name", value.Of("type", "string"),
		"times", value.Of("type", "integer", "minimum", 1.0, "default", 1.0),
	)
	s, err := schema.Props(declaration, []any{"name"}, true)
	if err != nil {
		fmt.Println(err)
		return
	}

	text, _ := value.JSON(s.Fill(value.Of("name", "Ada")))
	fmt.Println(text)
	fmt.Println(schema.Lines(s.Validate(value.Of("times", 0.0, "mood", "glad"))))
	// Output:
	// {"name":"Ada","times":1}
	//   - "/name" must have required property 'name'
	//   - "/times" must be >= 1
	//   - "/mood" must NOT have additional properties
}

func ExampleCompile() {
	_, err := schema.Compile(value.Of("type", "string", "colour", "red", "minimum", 1.0))
	fmt.Println(err)
	// Output:
	// the schema cannot be used:
	//   - (root) unknown keyword "colour"
	//   - (root) "minimum" needs a declared "type" it applies to (number or integer)
}
