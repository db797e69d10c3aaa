package program

import "encoding/json"

// marked reports whether the _meta of a chunk says that it is a message of the
// adapter and no output of the model.
func marked(meta []byte) bool {
	var m struct {
		ClaudeCode struct {
			Kind string `json:"kind"`
		} `json:"claudeCode"`
	}
	return json.Unmarshal(meta, &m) == nil && m.ClaudeCode.Kind != ""
}
