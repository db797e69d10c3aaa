package journal

import (
	"github.com/google/osv-scalibr/veles"
	"github.com/google/osv-scalibr/veles/secrets/digitaloceanapikey"
	"github.com/google/osv-scalibr/veles/secrets/huggingfaceapikey"
	"github.com/google/osv-scalibr/veles/secrets/npmjsaccesstoken"
	"github.com/google/osv-scalibr/veles/secrets/perplexityapikey"
	"github.com/google/osv-scalibr/veles/secrets/pypiapitoken"
	"github.com/google/osv-scalibr/veles/secrets/rubygemsapikey"
	"github.com/google/osv-scalibr/veles/secrets/sendgrid"
)

// A detector is one of the library's, with the rule its findings are reported
// under.
type detector struct {
	rule  string
	veles veles.Detector
}

// tokenDetectors builds the detectors the first record needs. They are those
// whose expression starts with a literal, so that a clean record costs a search
// for it, and whose package is cheap to start; the shapes of this package cover
// the others that matter, without their checksums.
func tokenDetectors() []detector {
	return []detector{
		{"npm-token", npmjsaccesstoken.NewDetector()},
		{"pypi-token", pypiapitoken.NewDetector()},
		{"huggingface-token", huggingfaceapikey.NewDetector()},
		{"sendgrid-key", sendgrid.NewDetector()},
		{"digitalocean-token", digitaloceanapikey.NewDetector()},
		{"rubygems-key", rubygemsapikey.NewDetector()},
		{"perplexity-key", perplexityapikey.NewDetector()},
	}
}
