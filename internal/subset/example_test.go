package subset_test

import (
	"fmt"

	"github.com/executable-markdown/xmd/internal/subset"
	"github.com/executable-markdown/xmd/wasm"
)

func ExampleExpression() {
	e, _ := subset.Expression("{first: files[0].name, count: -1, files}", false, 64)
	subset.Names(e, func(name string) bool {
		fmt.Println("reads", name)
		return true
	})
	e, _ = subset.Expression(`{b: "x", 1: [0x10, null]}`, true, 64)
	fmt.Println(e.(*wasm.Literal).JSON)
	_, err := subset.Expression("files.map(f => f.name)", false, 64)
	fmt.Println(err == subset.ErrRefused)
	// Output:
	// reads files
	// reads files
	// {"1":[16,null],"b":"x"}
	// true
}

func ExampleReferences() {
	for _, p := range subset.References(`Read {file.name}, not \{this} or {props.a b}.`) {
		fmt.Printf("%2d %q %q %q\n", p.Offset, p.Text, p.Source, p.Name)
	}
	// Output:
	//  0 "Read " "" ""
	//  5 "" "{file.name}" "file"
	// 16 ", not {this} or " "" ""
	// 33 "" "{props.a b}" "props"
	// 44 "." "" ""
}
