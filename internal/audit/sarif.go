package audit

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/executable-markdown/xmd/internal/value"
)

// SARIF is the findings of a report as a SARIF 2.1.0 log, for a code host that shows
// them beside the lines they are about. version is that of the program.
func SARIF(r Report, version string) (string, error) {
	used := map[string]bool{}
	for _, f := range r.Found() {
		used[f.Code] = true
	}
	index := map[string]int{}
	declared := []any{}
	for _, rule := range rules {
		if !used[rule.Code] {
			continue
		}
		index[rule.Code] = len(declared)
		declared = append(declared, value.Of(
			"id", rule.Code,
			"shortDescription", message(rule.Text),
			"defaultConfiguration", value.Of("level", string(rule.Level)),
		))
	}
	results := list(r.Found(), func(f Finding) any {
		result := value.Of(
			"ruleId", f.Code,
			"ruleIndex", float64(index[f.Code]),
			"level", string(f.Level),
			"message", message(shown(f.Message)),
		)
		if f.Where.File != "" {
			result.Set("locations", []any{value.Of("physicalLocation", physical(f.Where))})
		}
		return result
	})
	driver := value.Of("name", "xmd", "version", version, "rules", declared)
	return written(value.Of(
		"$schema", "https://json.schemastore.org/sarif-2.1.0.json",
		"version", "2.1.0",
		"runs", []any{value.Of(
			"tool", value.Of("driver", driver),
			"columnKind", "utf16CodeUnits",
			"results", results,
		)},
	))
}

func message(text string) *value.Object { return value.Of("text", text) }

// physical is a place as SARIF writes one. A name that is no path of this machine,
// such as <stdin>, becomes a relative reference like any other.
func physical(p Place) *value.Object {
	o := value.Of("artifactLocation", value.Of("uri", reference(p.File)))
	if p.Line > 0 {
		region := value.Of("startLine", float64(p.Line))
		if p.Column > 0 {
			region.Set("startColumn", float64(p.Column))
		}
		o.Set("region", region)
	}
	return o
}

// reference is a file as a URI reference: absolute paths with a scheme, relative
// ones without.
func reference(file string) string {
	slashed := filepath.ToSlash(file)
	segments := strings.Split(slashed, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	escaped := strings.Join(segments, "/")
	switch {
	case strings.HasPrefix(slashed, "/"):
		return "file://" + escaped
	case filepath.IsAbs(file):
		return "file:///" + escaped
	case strings.Contains(segments[0], ":"):
		return "./" + escaped // else the first segment would be a scheme
	}
	return escaped
}
