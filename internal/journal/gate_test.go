package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/osv-scalibr/veles"
	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

// recordOf is the record of an effect with that value.
func recordOf(t testing.TB, v any) []byte {
	e := sampleEvent()
	e.Result = Ok(v)
	line, err := AppendLine(nil, e)
	require.NoError(t, err)
	return line
}

// rules lists the rules that object to a record, each once.
func rules(t testing.TB, g *Gate, record []byte) []string {
	err := g.Check(record)
	if err == nil {
		return nil
	}
	var refused *SecretError
	require.ErrorAs(t, err, &refused)
	var names []string
	for _, f := range refused.Findings {
		names = append(names, f.Rule)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Secrets of the tests are put together here, so that no scanner of repositories
// takes this file for a leak.
const (
	alnum36  = "0123456789abcdefghij" + "ABCDEFGHIJ012345"
	alnum64  = alnum36 + "zyxwvutsrqponm" + "98765432109876"
	segment  = "eyJ" + "hbGciOiJIUzI1NiJ9"
	password = "hunter2" + "hunter2"
)

func TestSecretsInText(t *testing.T) {
	for _, c := range []struct{ text, rule string }{
		{"ghp_" + alnum36 + "\n", "github-token"},
		{"x\nghp_" + alnum36, "github-token"},
		{"TOKEN=gho_" + alnum36, "github-token"},
		{"ghs_" + alnum36, "github-token"},
		{"github_pat_" + alnum36[:22] + "_" + alnum64[:59], "github-token"},
		{"glpat-" + alnum36[:20], "gitlab-token"},
		{"sk-" + alnum36 + alnum36[:12], "sk-key"},
		{"key sk-proj-" + alnum64, "sk-key"},
		{"\nsk-ant-api03-" + alnum64, "sk-key"},
		{"sk-" + "0123456789abcdef0123456789abcdef", "sk-key"},
		{"AKIA" + "ABCDEFGHIJ234567", "aws-access-key"},
		{"id\tASIA" + "ABCDEFGHIJ234567\t", "aws-access-key"},
		{"AIza" + alnum36[:35], "google-api-key"},
		{"xoxb-" + "123456789012-abcdefABCDEF", "slack-token"},
		{"xapp-" + "1-A0123456789-1234567890123", "slack-token"},
		{"sk_live_" + alnum36, "stripe-key"},
		{"rk_live_" + alnum36, "stripe-key"},
		{"npm_" + alnum36, "npm-token"},
		{"hf_" + strings.Repeat("abcdEFGH", 5)[:34], "huggingface-token"},
		{"pypi-" + strings.Repeat(alnum36, 3), "pypi-token"},
		{"dop_v1_" + strings.Repeat("0123456789abcdef", 4), "digitalocean-token"},
		{"-----BEGIN RSA PRIVATE KEY-----\nMIIE", "private-key"},
		{"-----BEGIN PRIVATE KEY-----", "private-key"},
		{"-----BEGIN PGP PRIVATE KEY BLOCK-----", "private-key"},
		{segment + "." + segment + ".abcdefghijklmnop", "jwt"},
		{"\n" + segment + "." + segment + ".abcdefghijklmnop", "jwt"},
		{"Authorization: Bearer " + alnum36, "bearer"},
		{"curl -H 'authorization: bearer abcdef0123456789'", "bearer"},
		{"https://user:" + password + "@example.com/x", "url-userinfo"},
		{"git clone https://" + alnum36 + "@example.com/x", "url-userinfo"},
		{"postgres://app:s3cr3t@db/app", "url-userinfo"},

		{"DB_PASSWORD=correcthorsebattery\n", "secret-field"},
		{"export API_KEY=" + alnum36, "secret-field"},
		{"{\n  \"api_key\": \"" + alnum36 + "\"\n}", "secret-field"},
		{`{"outer": "{\"password\": \"` + password + `\"}"}`, "secret-field"},
		{"dbPassword: '" + password + "'", "secret-field"},
		{"password: " + password + "\n", "secret-field"},
		{"a\npassword = " + password, "secret-field"},
		{"<Login password=\"" + password + "\" />", "secret-field"},
		{"AWS_SECRET_ACCESS_KEY=" + alnum36 + "abcd", "secret-field"},
		{"Authorization: Basic dXNlcjpwYXNzd29yZA==", "secret-field"},
		{"secret-key := " + alnum36, "secret-field"},
	} {
		got := rules(t, NewGate(), recordOf(t, value.Of("stdout", c.text)))
		require.Contains(t, got, c.rule, c.text)
	}
}

func TestCleanTextIsNoFinding(t *testing.T) {
	hash := "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	for _, text := range []string{
		"password: see vault",
		"The password: 12-character minimum applies, and API key rotation is monthly.",
		"password=" + "", "password = ", "password: \"\"",
		"password={props.password}", "<Login password={props.password} />",
		"password=\"{props.password}\"", "password: \"<password>\"", "password=***********",
		"password: \"changeme\"", "PASSWORD=$SECRET_PASSWORD", "PASSWORD=${DB_PASSWORD:-}",
		"api_key = os.environ[\"API_KEY\"]", "api_key=config.api_key_name", "token(password=user_password)",
		"const password = readPasswordFromVault()", "apiKey=userApiKeyValue;", "password == correcthorsebattery1",
		"\"password\": \"YOUR_PASSWORD_HERE\"", "api-key: \"my-api-key-value\"", "password_hint=correcthorsebattery1",
		"type: { password: { type: string, minLength: 12 } }", "password: minimum12characters is advised",
		"Authorization: Bearer $TOKEN", "Authorization: Bearer <token>", "the bearer authentication of requests",
		"bearer-abcdefgh0123456789ab", "Authorization: required for administration",
		"https://example.com:8080/a@b", "https://user@example.com", "https://user:{props.password}@example.com",
		"git@github.com:a/b.git", "postgres://user:password@localhost/db", "http://[::1]:80/",
		"sha256:" + hash, hash, "input " + hash + " and " + hash[:40],
		"task-force-one-and-more-words-2", "sk-this-is-a-slug-with-many-words-2026", "risk-0123456789abcdef01234567",
		"ghp_short", "ghp_" + strings.Repeat("x", 36), "AKIAIOSFODNN7EXAMPLE", "AKIA" + "ABCDEFGHIJ2345678901",
		"eyJhbGci.eyJz", "xoxb-not-a-token-really", "-----BEGIN CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----",
	} {
		require.NoError(t, NewGate("known-secret-value").Check(recordOf(t, value.Of("stdout", text, "content", hash))), text)
	}
}

func TestMembersNamedLikeASecret(t *testing.T) {
	for _, c := range []struct {
		member string
		v      any
		found  bool
	}{
		{"password", password, true},
		{"password", "s3cret", true},
		{"Client-Secret", "abc def", false},
		{"client secret", "abcdef", true},
		{"userApiKey", "abcdef", true},
		{"authorization", "Bearer abcdef", true},
		{"authorization", "Bearer {props.token}", false},
		{"authorization", "required", false},
		{"password", "", false},
		{"password", "{props.password}", false},
		{"password", "<password>", false},
		{"password", "***", false},
		{"password", "changeme", false},
		{"password", nil, false},
		{"password", true, false},
		{"password", value.Of("type", "string", "minLength", 12.0), false},
		{"passwordHint", "abcdefgh12345", false},
		{"compassword", "abcdefgh12345", false},
		{"name", "password", false},
		{"sessionKey", "abcdefgh12345678", false},
	} {
		got := rules(t, NewGate(), recordOf(t, value.Of(c.member, c.v)))
		require.Equal(t, c.found, slices.Contains(got, "secret-field"), "%s: %v", c.member, c.v)
	}
}

func TestGoldenRecordsPassTheGate(t *testing.T) {
	g := NewGate("known-secret-value")
	for _, text := range golden {
		require.NoError(t, g.Check([]byte(text)), text)
	}
}

func TestKnownValues(t *testing.T) {
	multi := "line \"one\"\nline two\\"
	g := NewGate("opensesame", multi+"\n", "short", "  padded-value \n")
	for text, want := range map[string]bool{
		"say opensesame now": true,
		"say opensesam":      false,
		"a " + multi + " b":  true,
		"short":              false,
		"x=padded-value":     true,
	} {
		got := rules(t, g, recordOf(t, text))
		require.Equal(t, want, slices.Equal(got, []string{"known-value"}), text)
	}
}

func TestARefusalSaysWhereAndNotWhat(t *testing.T) {
	g := NewGate("opensesame")
	record := []byte("{\"a\":\"opensesame\",\n\"b\":\"x opensesame " + "ghp_" + alnum36 + "\"}")
	err := g.Check(record)
	require.EqualError(t, err, `secret detection rejected content before it was persisted:
  known-value at 1:7
  known-value at 2:8
  github-token at 2:19
Fix the code or data flow that produced it.`)
	var refused *SecretError
	require.ErrorAs(t, err, &refused)
	require.False(t, IsDurability(err))
	f := refused.Findings
	require.Regexp(t, `^[0-9a-f]{32}$`, f[0].Digest)
	require.Equal(t, f[0].Digest, f[1].Digest)
	require.NotEqual(t, f[0].Digest, f[2].Digest)

	require.ErrorAs(t, NewGate("opensesame").Check(record), &refused)
	require.NotEqual(t, f[0].Digest, refused.Findings[0].Digest, "the key belongs to one gate")
}

func TestFindingsAreBounded(t *testing.T) {
	var refused *SecretError
	require.ErrorAs(t, NewGate("opensesame").Check(bytes.Repeat([]byte("opensesame password=abcdef012345 "), 5000)), &refused)
	require.Len(t, refused.Findings, maxFindings)
}

func TestARejectionFailsOneEffect(t *testing.T) { // R8
	marker := []byte("ghp_" + alnum36)
	file := &fakeFile{}
	var log strings.Builder
	g := NewGate()
	j := mustOpen(t, NewLines(file), Options{Gate: g, Observe: func(e Event) { fmt.Fprintf(&log, "%+v", e) }})
	root := j.Root()
	perform := func(v any, failure error, members ...Member) error {
		_, err := root.Perform(ctx, Description{Type: "t", Name: "n", Members: members}, func(context.Context) (any, error) { return v, failure })
		return err
	}
	for _, err := range []error{
		perform(string(marker), nil),
		perform(nil, errors.New("cannot use "+string(marker))),
		perform("harmless", nil, Member{"input", string(marker)}),
		root.Close(ctx, Ok(string(marker))),
	} {
		var refused *SecretError
		require.ErrorAs(t, err, &refused)
		fmt.Fprint(&log, err)
	}
	require.NoError(t, j.Err())
	require.Zero(t, root.Position())
	require.NoError(t, perform("harmless", nil), "later effects go on")
	require.NoError(t, root.Close(ctx, Err(errors.New("rejected"))), "the close crosses the gate on its own")
	require.Equal(t, 2, file.writes)
	for i := range len(marker) - 8 {
		window := string(marker[i : i+8])
		require.NotContains(t, file.String(), window)
		require.NotContains(t, log.String(), window)
	}
}

type panicking struct{}

func (panicking) MaxSecretLen() uint32 { return 8 }
func (panicking) Detect(data []byte) ([]veles.Secret, []int) {
	panic(string(data))
}

func TestAGateIsPreparedAtItsFirstRecord(t *testing.T) {
	g := NewGate("a known secret")
	require.Empty(t, g.detectors)
	require.Zero(t, g.key)
	require.NoError(t, g.Check(recordOf(t, "clean")))
	require.NotEmpty(t, g.detectors)
	require.NotZero(t, g.key)
}

func TestAScanThatFailsRefuses(t *testing.T) {
	g := &Gate{detectors: []detector{{"broken", panicking{}}}}
	err := g.Check(recordOf(t, "harmless"))
	require.EqualError(t, err, "secret detection could not examine content, so it was not persisted")
	require.EqualError(t, g.Check(recordOf(t, "harmless")), err.Error())
	require.NoError(t, (*Gate)(nil).Check([]byte("ghp_"+alnum36)), "no gate, no detection")
}

func TestReplayNeverScans(t *testing.T) {
	stream := NewMemory()
	_, err := mustOpen(t, stream, Options{}).Root().Perform(ctx, Description{Type: "t", Name: "n"},
		func(context.Context) (any, error) { return "ghp_" + alnum36, nil })
	require.NoError(t, err)
	v, err := mustOpen(t, stream, Options{Gate: &Gate{detectors: []detector{{"broken", panicking{}}}}}).Root().
		Perform(ctx, Description{Type: "t", Name: "n"}, nil)
	require.NoError(t, err)
	require.Equal(t, "ghp_"+alnum36, v)
}

// FuzzGate: no input makes the rules panic, and every place they report lies in
// the record.
func FuzzGate(f *testing.F) {
	for _, seed := range []string{
		`password=`, `{"password":"`, `{\"password\": \"abc\\\"`, `://`, `a://b:c@`, `bearer `, `eyJ.eyJ.`,
		`sk-`, `-----BEGIN `, `authorization: basic `, `'password': 'x`, `password\\\\\\\\\\"`, "ghp_" + alnum36,
	} {
		f.Add([]byte(seed))
	}
	g := NewGate("opensesame")
	f.Fuzz(func(t *testing.T, data []byte) {
		err := g.Check(data)
		if err == nil {
			return
		}
		var refused *SecretError
		require.ErrorAs(t, err, &refused)
		require.NotEmpty(t, refused.Findings, "a rule panicked")
		for _, finding := range refused.Findings {
			require.LessOrEqual(t, finding.Line, bytes.Count(data, []byte{'\n'})+1)
			require.LessOrEqual(t, finding.Column, len(data))
		}
	})
}
