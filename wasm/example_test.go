package wasm_test

import (
	"fmt"

	"github.com/executable-markdown/xmd/wasm"
)

// A fragment that lists files and writes one, <Glob pattern="*.md" as="files" /> and
// <File path="list.txt">{files.length}</File>, and what its module may do.
func ExampleCompile() {
	program := &wasm.Program{
		Digest: "sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef",
		Elements: []wasm.Element{
			{Name: "Glob", Identity: "xmd.core/Glob@1", As: true, Parent: -1, Offset: 0},
			{Name: "File", Identity: "xmd.core/File.write@1", Form: wasm.Paired, Parent: -1, Offset: 37},
		},
		Body: []wasm.Node{
			&wasm.Invoke{
				Element: 0,
				Props:   []wasm.Prop{{Name: "pattern", Value: &wasm.Literal{JSON: `"*.md"`}}},
				As:      "files",
			},
			&wasm.Invoke{
				Element: 1,
				Props:   []wasm.Prop{{Name: "path", Value: &wasm.Literal{JSON: `"list.txt"`}}},
				Body:    []wasm.Node{&wasm.Show{Source: "{files.length}"}},
			},
		},
	}
	compiled, err := wasm.Compile(program)
	if err != nil {
		fmt.Println(err)
		return
	}
	// Whoever is handed the bytes reads what they may do out of them.
	module, err := wasm.Read(compiled.Bytes)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, in := range module.Imports {
		fmt.Println(in.Module, in.Field)
	}
	// Output:
	// xmd:text show
	// xmd:text render
	// xmd:text push
	// xmd:text pop
	// xmd:value literal
	// xmd:scope bind
	// xmd.core/Glob@1 invoke
	// xmd.core/File.write@1 enter
	// xmd.core/File.write@1 leave
}
