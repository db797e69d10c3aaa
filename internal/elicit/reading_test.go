package elicit

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// original is the text a reading was made of.
func (r *reading) original(t testing.TB) string {
	var b strings.Builder
	at := 0
	for _, e := range r.escapes {
		b.WriteString(r.text[at:e.from])
		c, err := strconv.Unquote(`"` + r.text[e.from:e.to] + `"`)
		require.NoError(t, err)
		b.WriteString(c)
		at = e.to
	}
	return b.String() + r.text[at:]
}

func TestPR9_LookAlikesAreWrittenAsEscapes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a Cyrillic letter in an element", "<F\u0435tch />", `<F\u0435tch />`},
		{"a wide letter in an element", "<\uff26etch />", `<\uff26etch />`},
		{"a wide element", "<\uff26\uff25 /> </\uff26\uff25>", `<\uff26\uff25 /> </\uff26\uff25>`},
		{"a Cyrillic element", "<\u0425\u0415\u0421 />", `<\u0425\u0415\u0421 />`},
		{"a part of the name of an element", "<Fetch.\u0420\u043e />", `<Fetch.\u0420\u043e />`},
		{"a Greek letter in a word", "the t\u03bfken", `the t\u03bfken`},
		{"an Armenian letter in a word", "c\u0585de", `c\u0585de`},
		{"a Cherokee letter in a word", "\u13aaetch", `\u13aaetch`},
		{"phonetic letters in a word", "\u0261it pu\u026al", `\u0261it pu\u026al`},
		{"a click in a word", "a\u01c0b", `a\u01c0b`},
		{"a ligature and a letterlike sign", "\ufb01le \u212aey", `\ufb01le \u212aey`},
		{"a Roman numeral in a word", "E\u217cicit", `E\u217cicit`},
		{"letters of mathematics", "\U0001d5a5\U0001d5be \U0001d7d8", `\U0001d5a5\U0001d5be \U0001d7d8`},
		{"a digit of another script", "port 80\u09ea0", `port 80\u09ea0`},
		{"one Latin letter in a Cyrillic word", "p\u0430\u0441\u0430", `p\u0430\u0441\u0430`},
		{"a host", "https://\u0441\u043e.test/", `https://\u0441\u043e.test/`},
		{"a whole address", "https://a.test/\u0436\u0438?\u05d0 \u0436\u0438", `https://a.test/\u0436\u0438?\u05d0 жи`},
		{"an address in angles", "<https://a\u2024b\u0436\u0436>", `<https://a\u2024b\u0436\u0436>`},
		{"a slash that is none in an address", "https://a.test\u2215@b.test", `https://a.test\u2215@b.test`},
		{"a word of a path that passes for another", "docs/\u0441\u043e\u0440\u0443.txt", `docs/\u0441\u043e\u0440\u0443.txt`},
		{"a member that passes for another", "{props.\u0430}", `{props.\u0430}`},
		{"a word of a path that does not", "docs/отчёт.txt", "docs/отчёт.txt"},
		{"a fence that is none", "\u02cb\u02cb\u02cb\n<Exec />", `\u02cb\u02cb\u02cb` + "\n<Exec />"},
		{"tags that are none", "\uff1cIf a\uff1e \u2039If\u203a \u1438/If\u1433", `\uff1cIf a\uff1e \u2039If\u203a \u1438/If\u1433`},
		{"signs between ASCII text", "a\uff0fb a\uff1ab a\u02d0b", `a\uff0fb a\uff1ab a\u02d0b`},
		{"an escape between the letters", "F\u200b\u0435tch", `F\u200b\u0435tch`},
		{"marks piled on a letter", "a" + strings.Repeat("\u0301", 8), "a" + strings.Repeat("\u0301", 6) + `\u0301\u0301`},
		{"marks on what is no letter", "<\u0338 \u0301 1\u0301 \n\u0301", `<\u0338 \u0301 1\u0301 ` + "\n" + `\u0301`},
		{"marks that cross or enclose a letter", "a\u0336b\u20dd\u0489", `a\u0336b\u20dd\u0489`},
		{"glyphs many columns wide", "\ufdfd \U0001242b \u2e3b", `\ufdfd \U0001242b \u2e3b`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := read(c.text)
			require.Equal(t, c.want, r.text)
			require.Equal(t, c.text, r.original(t))
		})
	}
}

// What people write in their languages stays as it is.
func TestPR9_OrdinaryTextStays(t *testing.T) {
	for name, text := range map[string]string{
		"Russian":    "Программа спрашивает возраст и пишет его в файл docs/отчёт.txt: «А» и «Б», см. п. 3.2. USB-порт, 5кг, 10 м.",
		"Ukrainian":  "Сім'я їсть м’яту, об'єкт ґанку.",
		"Greek":      "Το πρόγραμμα ρωτάει την ηλικία σου και γράφει το αποτέλεσμα. Η αρχή.",
		"polytonic":  "ἐν ἀρχῇ ἦν ὁ λόγος",
		"Armenian":   "Ծրագիրը հարցնում է տարիքը։",
		"Georgian":   "პროგრამა კითხულობს ასაკს",
		"Cherokee":   "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ",
		"Chinese":    "使用Fetch组件，把结果写入文件：output.txt。（例如：3～5个，12：30）",
		"Japanese":   "Gitを使ってファイルに書く。「はい」ですか？",
		"Korean":     "Fetch를 사용하여 파일에 씁니다.",
		"Thai":       "ใช้Fetchเพื่อเขียนไฟล์ ที่นี่ น้ำ ปู่",
		"Hindi":      "कार्यक्रम आयु पूछता है और क्षिप्र लिखता है।",
		"Tibetan":    "བོད་སྐད་ཡིན།",
		"Burmese":    "ကျွန်ုပ်တို့ မြွှေ",
		"Vietnamese": "Chương trình hỏi tuổi của bạn. Đường Nguyễn Huệ",
		"composed":   "re\u0301sume\u0301 Nguye\u0302\u0303n",
		"Turkish":    "ışık ağacı İstanbul ŞİŞLİ",
		"Hausa":      "ɓera da ɗaki, ƙofa; Ewe: ɖe ɣeyiɣi, Ŋutsu",
		"Hawaiian":   "Hawaiʻi, don’t",
		"French":     "«Où êtes-vous?» L’œuvre – 25 € …",
		"units":      "Δt = 5 μs, λx, 3µm, 20 °C, x², H₂O, №7",
		"drawing":    "├── src\n│   └── main.go → 🐢 ✓",
		"code":       "const größe = {\"naïve\": 'ç'}; // ≤ ≠ ∞\n<Fetch url=\"https://a.test/?q=%20\" as=\"x\" />",
	} {
		t.Run(name, func(t *testing.T) {
			r := read(text)
			require.Equal(t, text, r.text)
			require.Empty(t, r.cautions())
		})
	}
}

func TestPR9_CautionsSayWhatALongTextHides(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "a\n\n\nb\n", nil},
		{"hidden", "\u202e\x1b\u200b", []string{`Written as escapes because they would not be seen, or would rearrange what is: 3 characters, such as \u202e.`}},
		{"look-alikes", "F\u0435tch", []string{`Written as escapes because they would pass for something else: 1 character, such as \u0435.`}},
		{"marks", "a\u0336\u0336", []string{`Written as escapes because they would reach over what is beside them: 2 characters, such as \u0336.`}},
		{"an escape the text spells itself", `\u202e`, nil},
		{"from right to left", "a\nb א\nc\nد", []string{"On 2 lines, first on line 2, there are letters written from right to left; a screen may show what is beside them in another order."}},
		{"empty lines", "first" + strings.Repeat("\n", 99_991) + "last", []string{"Lines 2 to 99,991 say nothing new: they are empty, nearly empty or like the line before. The text goes on below them."}},
		{"nearly empty lines", "first\n" + strings.Repeat(" \t.\n", 10) + "last", []string{"Lines 2 to 11 say nothing new: they are empty, nearly empty or like the line before. The text goes on below them."}},
		{"the same line", strings.Repeat("<Probe />\n", 60) + "<Exec />", []string{"Lines 2 to 60 say nothing new: they are empty, nearly empty or like the line before. The text goes on below them."}},
		{"some more gaps", "a b c" + strings.Repeat("\n", 11) + "b c d" + strings.Repeat("\n", 21) + "c d e" + strings.Repeat("\n", 11) + "d e f",
			[]string{"Lines 13 to 32 say nothing new: they are empty, nearly empty or like the line before. The text goes on below them. It is the longest of 3 such gaps."}},
		{"few empty lines", "first" + strings.Repeat("\n", 10) + "last", nil},
		{"nothing below the empty lines", "first" + strings.Repeat("\n", 100), nil},
		{"blanks inside a line", "one\ntwo" + strings.Repeat(" ", 100) + "more", []string{"Line 2 has 100 columns of blanks in a row, and more text behind them."}},
		{"tabs before a line", strings.Repeat("\t", 50) + "more", []string{"Line 1 has 200 columns of blanks in a row, and more text behind them."}},
		{"blanks that end a line", "one" + strings.Repeat(" ", 500) + "\ntwo", nil},
		{"some blanks", "one" + strings.Repeat(" ", 99) + "two", nil},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, read(c.text).cautions()) })
	}
}

func FuzzReading(f *testing.F) {
	for _, seed := range []string{"", "plain\n\ttext", "a\u202eb\xff", "<F\u0435tch>", "https://\u0436<\u0436://\u0436", `\u202e\` + "\u202e", "docs/\u0436\u0489\u0430.txt", "а\u0489\u0301ж.a", "x\u2044ж\u27e8a\u0585", "\uff1ca\u0301\u0301"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := read(text)
		require.Equal(t, text, r.original(t), "nothing is left out or added")
		require.True(t, utf8.ValidString(r.text))
		require.Equal(t, -1, strings.IndexFunc(r.text, isHidden), "%q", r.text)
		require.Equal(t, r.text, legible(r.text), "%q", text)
		require.LessOrEqual(t, len(r.text), 6*len(text))
		if strings.IndexFunc(text, func(c rune) bool { return c > unicode.MaxASCII }) < 0 {
			require.Equal(t, Visible(text), r.text)
		}
		r.cautions()
	})
}

// TestReadingAgainChangesNothing reads many short texts of characters that the rules
// tell apart.
func TestReadingAgainChangesNothing(t *testing.T) {
	alphabet := []rune("aF5.:/<>\\\"= \n\u0430\u0436\u0401\u03bf\u0394\u09ea\u0301\u0489\u0336\u02cb\u2044\uff1a\u27e8\u0585\u6f22\uff26\u202e\u200bu20")
	source := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		text := make([]rune, source.IntN(14))
		for i := range text {
			text[i] = alphabet[source.IntN(len(alphabet))]
		}
		r := read(string(text))
		require.Equal(t, string(text), r.original(t))
		require.Equal(t, r.text, legible(r.text), "%q", string(text))
	}
}

// hostileSizes are texts that take long to read for whoever looks at a part of them
// again and again.
func hostileSizes() map[string]string {
	const size = 1 << 19
	return map[string]string{
		"lines":     strings.Repeat("An ordinary line of a candidate.\n", 100_000),
		"empty":     strings.Repeat("\n", size) + "x",
		"blanks":    strings.Repeat(" ", size) + "x",
		"one word":  strings.Repeat("aж", size/3),
		"one name":  strings.Repeat("a.ж/", size/5),
		"addresses": strings.Repeat("a://ж", size/6),
		"elements":  strings.Repeat("<ж", size/3),
		"elements2": strings.Repeat("</A:", size/4),
		"escapes":   strings.Repeat(`\u202e`, size/6),
		"hidden":    strings.Repeat("\u202e", size/3),
		"marks":     "a" + strings.Repeat("\u0301", size/2),
		"slashes":   strings.Repeat(`\`, size),
	}
}

func TestPR9_HostileSizesCostWhatTheyWeigh(t *testing.T) {
	for name, text := range hostileSizes() {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			term := NewTerminal(nil, &strings.Builder{})
			shown := term.unroll(text)
			require.NotEmpty(t, newLeaflet(text).Leaves)
			require.Less(t, time.Since(start), 10*time.Second)
			require.Less(t, len(shown), 30*len(text)+1000)
		})
	}
}
