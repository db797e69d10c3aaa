package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const readyLine = `ready XMD_SERVICE_READY:{"version":1,"token":"$TOKEN","hostname":"127.0.0.1","port":$PORT}`

func TestService(t *testing.T) {
	const read = "```js ephemeral eval\nif (site.port !== 4711) throw new Error('port'); const seen = site.hostname;\n```\n"
	for _, v := range []struct{ name, source, want, fails string }{
		{"ready", "```sh service=site exec\nsay starting\n" + readyLine + "\nsay XMD_other\nstay\n```\n" + read + "x", "x", ""},
		{"live names are no text", "```sh service=site exec\n" + readyLine + "\nstay\n```\n{site}", "{site}", ""},
		{"live names are no props", "```sh service=site exec\n" + readyLine + "\nstay\n```\n<P a={site} />", "", "site is not defined"},
		{"a forged token", "```sh service=site exec\nready XMD_SERVICE_READY:{\"version\":1,\"token\":\"x\",\"hostname\":\"127.0.0.1\",\"port\":4711}\nstay\n```\n", "", "not its own"},
		{"no JSON", "```sh service=site exec\nready XMD_SERVICE_READY:yes\nstay\n```\n", "", "not its own"},
		{"early end", "```sh service=site exec\nexit 3\n```\n", "", "ended early (exit 3)"},
		{"not outermost", "```sh silent service=site exec\nstay\n```\n", "", "first modifier"},
		{"without exec", "```sh service=site eval\nstay\n```\n", "", "needs exec"},
		{"a bad name", "```sh service=9 exec\nstay\n```\n", "", "cannot name a binding"},
		{"a taken name", "<Let as=\"site\" value={1} />\n```sh service=site exec\n" + readyLine + "\nstay\n```\n", "\n", "already names"},
	} {
		t.Run(v.name, func(t *testing.T) {
			o := observe(t, v.source, trial{})
			require.NoError(t, o.err)
			require.Equal(t, v.want, o.Output)
			require.NotContains(t, o.stdout+o.stderr, "XMD_SERVICE_READY", "a ready line is never shown")
			if v.fails != "" {
				require.ErrorContains(t, o.Err, v.fails)
				return
			}
			require.NoError(t, o.Err)
			for _, e := range o.events {
				typ, _ := e.Description.String("type")
				require.Contains(t, []string{"", "import_component"}, typ, "services leave no record")
			}
		})
	}
}

// TestServiceThatNeverStarts: until a service is ready, its end is its block's own
// failure.
func TestServiceThatNeverStarts(t *testing.T) {
	o := observe(t, "<PrintErrors>\n```sh service=site exec\nexit 3\n```\nafter</PrintErrors>", trial{})
	require.NoError(t, o.err)
	require.NoError(t, o.Err)
	require.Equal(t, "\n<!-- ERROR: the background command ended early (exit 3) -->after", o.Output)
}

func TestServiceAnnouncesItselfOnce(t *testing.T) {
	o := observe(t, "<Wrap>\n```sh service=site exec\n"+readyLine+"\n"+readyLine+"\nstay\n```\n```sh exec\nblock\n```\n</Wrap>", trial{})
	require.NoError(t, o.err)
	require.ErrorContains(t, o.Err, "announced itself twice")
}

// TestReadyLineInPieces: however the bytes arrive, ordinary ones are shown at
// once and the ready line never is.
func TestReadyLineInPieces(t *testing.T) {
	const output = "XMD\nplain XMD_SERVICE_READY:\nXMD_SERVICE_READY:{\"version\":1,\"token\":\"t\",\"hostname\":\"127.0.0.1\",\"port\":7}\ntail"
	for size := 1; size <= len(output); size++ {
		shown := &buffer{}
		h := &readiness{out: shown, port: 7, token: "t", ready: make(chan struct{}), fail: func(reason string, _ bool) { t.Fatal(reason) }}
		for rest := output; rest != ""; {
			n := min(size, len(rest))
			_, err := h.Write([]byte(rest[:n]))
			require.NoError(t, err)
			rest = rest[n:]
		}
		<-h.ready
		require.Equal(t, "XMD\nplain XMD_SERVICE_READY:\ntail", shown.String())
	}
}

func TestDaemon(t *testing.T) {
	o := observe(t, "<Wrap>\n```sh daemon exec\nsay hello\nstay\n```\ninside</Wrap> after", trial{})
	require.NoError(t, o.err)
	require.NoError(t, o.Err)
	require.Equal(t, "r \ninside after", o.Output)
	require.Equal(t, "hello\n", o.stdout)

	o = observe(t, "<PrintErrors><Pass>\n```sh daemon exec\nexit 2\n```\n```sh exec\nblock\n```\n</Pass></PrintErrors>", trial{})
	require.NoError(t, o.err)
	require.NoError(t, o.Err)
	require.Equal(t, "\n<!-- ERROR: the background command ended early (exit 2) -->", o.Output)

	o = observe(t, "a<Wrap>\n```sh daemon exec\nexit 2\n```\n```sh exec\nblock\n```\n</Wrap>b", trial{})
	require.NoError(t, o.err)
	require.ErrorContains(t, o.Err, "ended early (exit 2)")
}
