//go:build unix

package elicit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

// A browser is a Chromium that shows one page. It is told what to do over a pair
// of pipes.
type browser struct {
	t       *testing.T
	out     *os.File
	in      *bufio.Reader
	last    int
	session string
}

// newBrowser starts one, or skips the test where there is none.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium on the PATH: the page is not tried in a real browser")
	}
	theirs, ours, err := os.Pipe()
	require.NoError(t, err)
	answers, theirAnswers, err := os.Pipe()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	profile, err := os.MkdirTemp("", "xmd-browser-")
	require.NoError(t, err)
	cmd := exec.CommandContext(ctx, program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--remote-debugging-pipe", "--user-data-dir="+profile)
	cmd.Env = append(os.Environ(), "HOME="+profile)
	cmd.ExtraFiles = []*os.File{theirs, theirAnswers}
	require.NoError(t, cmd.Start())
	theirs.Close()
	theirAnswers.Close()
	b := &browser{t: t, out: ours, in: bufio.NewReaderSize(answers, 1<<16)}
	t.Cleanup(func() {
		ours.Close() // the browser ends with whoever tells it what to do
		cmd.Wait()
		cancel()
		answers.Close()
		os.RemoveAll(profile)
	})
	var target struct{ TargetID, SessionID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	b.call("Page.enable", nil, nil)
	return b
}

type message struct {
	ID     int             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params any             `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`

	SessionID string `json:"sessionId,omitempty"`
}

// call has something done and reads the result.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	b.send(method, params)
	for {
		m := b.next()
		if m.ID != b.last {
			continue
		}
		require.Empty(b.t, m.Error, "%s: %s", method, m.Error)
		if result != nil {
			require.NoError(b.t, json.Unmarshal(m.Result, result))
		}
		return
	}
}

func (b *browser) send(method string, params any) {
	b.t.Helper()
	b.last++
	if params == nil {
		params = map[string]any{}
	}
	text, err := json.Marshal(message{ID: b.last, Method: method, Params: params, SessionID: b.session})
	require.NoError(b.t, err)
	_, err = b.out.Write(append(text, 0))
	require.NoError(b.t, err)
}

func (b *browser) next() message {
	b.t.Helper()
	text, err := b.in.ReadBytes(0)
	require.NoError(b.t, err, "the browser ended")
	var m message
	require.NoError(b.t, json.Unmarshal(text[:len(text)-1], &m))
	return m
}

// load does something that shows another page and waits until it is there.
func (b *browser) load(method string, params any) {
	b.t.Helper()
	b.send(method, params)
	for b.next().Method != "Page.loadEventFired" {
	}
}

func (b *browser) open(address string) {
	b.t.Helper()
	b.load("Page.navigate", map[string]any{"url": address})
}

// key presses and releases one; text is what it writes.
func (b *browser) key(name, text string) {
	b.t.Helper()
	b.call("Input.dispatchKeyEvent", keyDown(name, text), nil)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": name, "code": name}, nil)
}

func keyDown(name, text string) map[string]any {
	code := map[string]int{"Tab": 9, "Enter": 13, " ": 32, "ArrowDown": 40, "End": 35}[name]
	return map[string]any{"type": "keyDown", "key": name, "code": name, "text": text, "windowsVirtualKeyCode": code}
}

// tabTo moves the focus on to the element of an id.
func (b *browser) tabTo(id string) {
	b.t.Helper()
	for range 20 {
		b.key("Tab", "")
		if b.eval(`document.activeElement.id`) == id {
			return
		}
	}
	require.FailNow(b.t, "the keyboard does not reach "+id)
}

// eval is the value of an expression as text.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	var result struct {
		Result struct{ Value any }
	}
	b.call("Runtime.evaluate", map[string]any{"expression": "String(" + expression + ")", "returnByValue": true}, &result)
	return fmt.Sprint(result.Result.Value)
}

// TestBrowserAnswersByKeyboard reviews a long text in a real browser and touches
// nothing but its keys.
func TestBrowserAnswersByKeyboard(t *testing.T) {
	b := newBrowser(t)
	d := newDesk(t)
	done := d.ask(t.Context(), strings.Repeat("one of many lines\n", 99_999)+"the last \u202eline", review)
	b.open(<-d.asked)
	require.Equal(t, "rgb(246, 248, 250)", b.eval(`getComputedStyle(document.querySelector(".message")).backgroundColor`), "the policy lets the style through")
	require.Equal(t, "100,000 lines Go to the answer", b.eval(`document.querySelector(".size").textContent`))
	require.Equal(t, "true", b.eval(`document.querySelector(".message").textContent.endsWith("the last \\u202eline")`))

	b.key("Tab", "")
	b.key("Enter", "\r")
	require.Equal(t, "true", b.eval(`document.querySelector("#reply").getBoundingClientRect().top < innerHeight`), "the link leads to the answer")
	b.tabTo("answer-0-o0")
	b.key("ArrowDown", "") // revise
	require.Equal(t, "answer-0-o1", b.eval(`document.querySelector("input:checked").id`))
	b.tabTo("answer-1")
	b.key("Tab", "") // on to the button
	b.load("Input.dispatchKeyEvent", keyDown("Enter", "\r"))

	require.Equal(t, "answer-1", b.eval(`document.activeElement.id`), "it starts at what is wrong")
	require.Equal(t, "this is needed", b.eval(`document.getElementById("answer-1-faults").innerText`))
	require.Equal(t, "answer-0-o1", b.eval(`document.querySelector("input:checked").id`))
	b.call("Input.insertText", map[string]any{"text": "shorter,\nplease"}, nil)
	b.key("Tab", "")
	b.load("Input.dispatchKeyEvent", keyDown("Enter", "\r"))
	require.Equal(t, "Answered", b.eval(`document.querySelector("h1").innerText`))
	got := <-done
	require.NoError(t, got.err)
	text, err := value.JSON(got.answer)
	require.NoError(t, err)
	require.Equal(t, `{"decision":"revise","feedback":"shorter,\nplease"}`, text)
}

// TestPR9_BrowserHidesNothing looks at a review that pads, piles and stretches.
func TestPR9_BrowserHidesNothing(t *testing.T) {
	b := newBrowser(t)
	d := newDesk(t)
	message := "```\n" + strings.Repeat("word ", 60) + "\n" + strings.Repeat(" ", 500) + "<Exec />\na" + strings.Repeat("\u0301", 100) + " b\u20dd \ufdfd\n\n\n" +
		strings.Repeat("x", 3000) + "\n" + strings.Repeat("line\n", 20) + "```"
	done := d.ask(t.Context(), message, review)
	address := <-d.asked
	for _, width := range []int{1280, 390} {
		b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
		b.open(address)
		require.Equal(t, "true", b.eval(`document.documentElement.scrollWidth <= innerWidth`), "%d", width)
		require.Equal(t, legible(message), b.eval(`(() => {
			getSelection().selectAllChildren(document.querySelector(".message"));
			return getSelection().toString().replace(/\n$/, "");
		})()`), "what is selected is the text, without the numbers")
		const text = `(line => {
			const range = document.createRange();
			range.selectNodeContents(line);
			return [...range.getClientRects()].filter(r => r.width > 0);
		})`
		require.Equal(t, "true", b.eval(`[...document.querySelectorAll(".message span")].every(line => {
			const box = line.getBoundingClientRect(), gutter = parseFloat(getComputedStyle(line, "::before").width);
			return box.height > 10 && getComputedStyle(line).overflowY === "clip" && `+text+`(line).every(r => r.left >= box.left + gutter && r.right <= box.right);
		})`), "every line has room of its own, beside its number, and nothing of it outside, at %d", width)
		require.Equal(t, "true", b.eval(`[...document.querySelectorAll(".message span")].slice(1).every((line, i) =>
			line.getBoundingClientRect().top >= document.querySelectorAll(".message span")[i].getBoundingClientRect().bottom - 1)`))
		require.Equal(t, "none", b.eval(`getComputedStyle(document.querySelector(".message span"), "::before").userSelect`))
		require.Equal(t, `"1"`, b.eval(`getComputedStyle(document.querySelector(".message span"), "::before").content.slice(0, 3)`))
	}
	b.load("Runtime.evaluate", map[string]any{"expression": `document.querySelector("[name=cancel]").click()`})
	require.ErrorIs(t, (<-done).err, ErrInterrupted)
}

// TestBrowserIsAskedInAnyShape looks at the page on a desk and on a phone, by day
// and by night: nothing sticks out, and text stands out from its ground.
func TestBrowserIsAskedInAnyShape(t *testing.T) {
	b := newBrowser(t)
	d := newDesk(t)
	done := d.ask(t.Context(), strings.Repeat("x", 2000)+"\n"+strings.Repeat(" ", 2000)+"y", `{"type":"object","properties":{"`+strings.Repeat("n", 300)+`":{"type":"string"},
		"list":{"type":"array","items":{"type":"number"}},"in":{"type":"object","properties":{"flag":{"enum":["`+strings.Repeat("o", 300)+`","no"]}}}}}`)
	address := <-d.asked
	for _, width := range []int{1280, 390} {
		for _, scheme := range []string{"light", "dark"} {
			b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
			b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]any{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
			b.open(address)
			require.Equal(t, "true", b.eval(`document.documentElement.scrollWidth <= innerWidth`), "%d %s", width, scheme)
			require.Equal(t, "true", b.eval(`(m => m.scrollWidth <= m.clientWidth)(document.querySelector(".message"))`), "%d %s", width, scheme)
			light := b.eval(`getComputedStyle(document.body).backgroundColor`) == "rgb(255, 255, 255)"
			require.Equal(t, scheme == "light", light)
			require.Equal(t, "true", b.eval(`[...document.querySelectorAll("input:not([type=hidden]), textarea")].every(e => e.labels.length == 1)`))
		}
	}
	b.load("Runtime.evaluate", map[string]any{"expression": `document.querySelector("[name=cancel]").click()`})
	require.Equal(t, "Cancelled", b.eval(`document.querySelector("h1").innerText`))
	require.True(t, errors.Is((<-done).err, ErrInterrupted))
}
