package capability

import (
	"strings"
	"testing"
)

func BenchmarkCleanPath(b *testing.B) {
	for b.Loop() {
		_, _ = cleanPath("services/api", "../docs/guide/first-steps.md")
	}
}

func BenchmarkControl(b *testing.B) {
	c := Control{Files: []string{"conf/profile.yaml"}, Dirs: []string{"components", "lib"}, Names: []string{"Fetch", "File", "Dir", "Glob"}}
	for b.Loop() {
		_ = c.decides("docs/guide/first-steps.md")
	}
}

func BenchmarkNormalizeRequest(b *testing.B) {
	r := Request{URL: "https://API.example.test/v1/../releases%2ejson?page=1", Headers: map[string]string{"Accept": "application/json"}}
	for b.Loop() {
		_, _ = NormalizeRequest(r, 0)
	}
}

func BenchmarkPatterns(b *testing.B) {
	p, err := compilePatterns([]string{"CHANGELOG.md", "docs/**", "**/*.{md,txt}"})
	if err != nil {
		b.Fatal(err)
	}
	name := strings.Repeat("a/", 5) + "first-steps.go"
	for b.Loop() {
		_, _ = p.covers(name)
	}
}
