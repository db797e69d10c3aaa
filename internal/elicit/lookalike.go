package elicit

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Characters that pass for others, and those that reach over their neighbours. The
// rule has to show a reviewer the one Cyrillic letter in a name, and to leave
// ordinary Greek or Russian alone (prompt 7.5):
//
//   - In a word with Latin letters, letters of other alphabets are written as
//     escapes; so are digits of other scripts in a word with ASCII letters or digits.
//     Scripts that are written without spaces, as Chinese, Japanese and Thai are,
//     stay: such words are mixed by nature.
//   - In a name or a path, which is words joined by signs like . / - and has ASCII
//     letters, a word of another alphabet is written as escapes if every letter of
//     it passes for an ASCII one: docs/отчёт.md stays and a Cyrillic "сору" goes.
//   - In the name after < or </, and in an address after ://, everything that is not
//     ASCII is: no element has another name, and no host is reached by another.
//   - Signs that pass for those of the language, such as the modifier grave accent
//     for a backtick, are: always, or where they touch ASCII text.
//   - A mark stays on a letter, up to maxMarks on one. Marks on anything else, marks
//     that cross or enclose a letter, and glyphs many columns wide are written out.
//
// An escape is a boundary of all of these, which is why applying the rules again
// changes nothing.

// maxMarks is how many marks one letter carries in the writing of any language.
const maxMarks = 6

// unspaced are the scripts whose words stand beside Latin ones without a space.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Yi)
}

// isWord reports whether a character is a part of words.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return isASCIIWord(r)
	}
	return unicode.In(r, unicode.L, unicode.Nl, unicode.Nd, unicode.M)
}

func isASCIILetter(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' }

func isASCIIWord(r rune) bool { return isASCIILetter(r) || '0' <= r && r <= '9' }

// isLatin reports whether a character is a letter of the languages that are written
// in Latin letters. Phonetic, wide and other variants of such letters are not.
func isLatin(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return isASCIILetter(r)
	case 0xc0 <= r && r <= 0x24f:
		return r != 0xd7 && r != 0xf7 && (r < 0x1c0 || r > 0x1c3) // clicks look like | and !
	case 0x1e00 <= r && r <= 0x1eff:
		return true
	}
	return strings.ContainsRune("ɓɔɖɗəɛɣɨɲɵɽʃʊʋʌʒʔ", r) // of African alphabets
}

// isOdd reports whether a letter does not belong into a word with Latin ones.
func isOdd(r rune) bool {
	switch {
	case r < utf8.RuneSelf || isLatin(r) || unspaced(r):
		return false
	case 0x2100 <= r && r <= 0x214f: // letterlike symbols
		return unicode.IsLetter(r)
	}
	return unicode.In(r, unicode.L, unicode.Nl) && !unicode.Is(unicode.Common, r) && !strings.ContainsRune("ΔΘΛΞΠΣΦΨΩδθλμξπφψ", r) // Δt, 5 μs
}

// passing are the letters that can be taken for ASCII ones, of the alphabets that
// are in wide use; passes has whole scripts besides.
const passing = "абсԁеһіјӏкорԛѕуѵԝхАВСЕНІЈКМОРԚЅТУѴԜХҮһ" +
	"αγικνορυχϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϺ" + "օոսցհզգքՕՍՏԼ"

func passes(r rune) bool {
	return strings.ContainsRune(passing, r) ||
		unicode.In(r, unicode.Cherokee, unicode.Lisu, unicode.Coptic, unicode.Canadian_Aboriginal, unicode.Old_Italic,
			unicode.Tifinagh, unicode.Lycian, unicode.Lydian, unicode.Carian, unicode.Osage, unicode.Deseret)
}

// Signs that pass for those of the language: always, touching ASCII text on one
// side, and touching it on both.
const (
	signs        = "ˋ`‵｀˜∼˂˃﹤﹥❮❯ᐸᐳ﹛﹜⁄∕⧸⟋∖⧵⧹﹨ꓽ꞉"
	signsBeside  = "＜＞‹›〈〉⟨⟩〈〉｛｝"
	signsBetween = "！＂＃＄％＆＇（）＊＋，－．／：；＝？＠［＼］＾＿｜～。．․‥։׃∶ːˑ･"
)

// isOf reports whether a sign is one of a set. Letters of the common alphabets are
// none, and that is quickly seen.
func isOf(set string, r rune) bool {
	return r >= 0x2c0 && (r < 0x370 || r > 0x588) && strings.ContainsRune(set, r)
}

// isSprawling reports whether a character reaches over its neighbours wherever it
// stands: marks that cross or enclose, and glyphs far wider than their cell.
func isSprawling(r rune) bool {
	switch {
	case r < 0x334:
		return false
	case r <= 0x338, r == 0x20d2, r == 0x20d3, 0x20d8 <= r && r <= 0x20da, r == 0x20e5, r == 0x20e6, r == 0x20ea, r == 0x20eb:
		return true
	case r == 0x2e3a, r == 0x2e3b, r == 0xfdfa, r == 0xfdfb, r == 0xfdfd, 0x12000 <= r && r <= 0x1254f:
		return true
	}
	return unicode.Is(unicode.Me, r)
}

// A proof marks up a text that has nothing hidden in it.
type proof struct {
	text  string
	known []span // the escapes in it
	out   writing

	strict  int  // up to where everything must be ASCII
	address int  // the end of the last address
	plain   bool // the character before is ASCII text, not a part of an escape
	escaped bool // what stands before is an escape
	letter  bool // the character before is a letter that stayed, or a mark on one
	marks   int  // how many marks are on it
}

func newProof(r *reading) *proof {
	p := &proof{text: r.text, known: r.escapes}
	p.out.of = &reading{counts: r.counts, sample: r.sample}
	p.out.Grow(len(r.text) + 16)
	return p
}

// run goes through the text once. Every character is looked at a fixed number of
// times: when the end of its name is looked for, of its word, and itself.
func (p *proof) run() *reading {
	for i := 0; i < len(p.text); {
		r, size := utf8.DecodeRuneInString(p.text[i:])
		if isWord(r) {
			i = p.name(i)
			continue
		}
		if n := escapeAt(p.text[i:]); n > 0 {
			p.copyEscape(i, n)
			i += n
			continue
		}
		p.watch(i)
		p.sign(r, i, size)
		i += size
	}
	p.out.of.text = p.out.String()
	return p.out.of
}

// watch looks for the begin of a part where everything must be ASCII.
func (p *proof) watch(i int) {
	rest := p.text[i:]
	if i >= p.address && strings.HasPrefix(rest, "://") {
		p.address = i + 3 + extent(rest[3:], func(r rune) bool { return r > ' ' && !strings.ContainsRune("\"'`<>)]}", r) })
		p.strict = p.address
	}
	if name, opens := strings.CutPrefix(rest, "<"); opens {
		name = strings.TrimPrefix(name, "/")
		p.strict = i + len(rest) - len(name) + extent(name, func(r rune) bool { return isWord(r) || strings.ContainsRune("._:-", r) })
	}
}

// extent is the length of the part of text up to an escape or to a character that
// does not hold.
func extent(text string, holds func(rune) bool) int {
	for i, r := range text {
		if !holds(r) || escapeAt(text[i:]) > 0 {
			return i
		}
	}
	return len(text)
}

// name proofs the words at start that are joined by signs, and returns its end.
func (p *proof) name(start int) int {
	ascii := false
	end := start + extent(p.text[start:], func(r rune) bool {
		ascii = ascii || isASCIILetter(r)
		return isWord(r) || r < utf8.RuneSelf && strings.ContainsRune(`._-/\:@#&=+~$%?`, r)
	})
	for i := start; i < end; {
		r, size := utf8.DecodeRuneInString(p.text[i:])
		if isWord(r) {
			i = p.word(i, end, ascii)
			continue
		}
		p.watch(i)
		p.sign(r, i, size)
		i += size
	}
	return end
}

// word proofs a word of a name and returns its end.
func (p *proof) word(start, limit int, ascii bool) int {
	var latin, asciiWord, odd, foreign bool
	passing := ascii && !p.escaped
	end := start + extent(p.text[start:limit], isWord)
	if end < len(p.text) && escapeAt(p.text[end:]) > 0 {
		passing = false
	}
	for _, r := range p.text[start:end] {
		latin = latin || isLatin(r)
		asciiWord = asciiWord || isASCIIWord(r)
		if isOdd(r) {
			odd = true
			passing = passing && passes(r)
		}
		foreign = foreign || r >= utf8.RuneSelf
	}
	if !foreign {
		p.out.WriteString(p.text[start:end])
		p.plain, p.escaped, p.letter, p.marks = true, false, true, 0
		return end
	}
	for i := start; i < end; {
		r, size := utf8.DecodeRuneInString(p.text[i:])
		i += size
		switch {
		case r >= utf8.RuneSelf && i <= p.strict,
			odd && (latin || passing) && isOdd(r),
			asciiWord && r >= utf8.RuneSelf && unicode.Is(unicode.Nd, r),
			0x1d400 <= r && r <= 0x1d7ff, // letters and digits in the styles of mathematics
			isOf(signs, r), isOf(signsBetween, r) && p.between(i, size):
			p.escape(imitating, r, i, size)
		case isSprawling(r), unicode.Is(unicode.M, r) && (!p.letter || p.marks == maxMarks):
			p.escape(sprawling, r, i, size)
		default:
			p.keep(r, i, size)
		}
	}
	return end
}

// sign proofs a character that is not a part of a word.
func (p *proof) sign(r rune, i, size int) {
	i += size
	switch {
	case r < utf8.RuneSelf:
		p.keep(r, i, size)
	case i <= p.strict, isOf(signs, r),
		isOf(signsBeside, r) && (p.plain || p.followed(i, "/!")),
		isOf(signsBetween, r) && p.between(i, size):
		p.escape(imitating, r, i, size)
	case isSprawling(r):
		p.escape(sprawling, r, i, size)
	default:
		p.keep(r, i, size)
	}
}

// between reports whether ASCII text stands on both sides of the character of a size
// that ends at i, and not only digits, as in 12：30.
func (p *proof) between(i, size int) bool {
	if !p.plain || !p.followed(i, "") {
		return false
	}
	before, after := rune(p.text[i-size-1]), rune(p.text[i])
	return isASCIILetter(before) || isASCIILetter(after)
}

func (p *proof) followed(i int, also string) bool {
	r, _ := utf8.DecodeRuneInString(p.text[i:])
	return isASCIIWord(r) || strings.ContainsRune(also, r)
}

// keep leaves a character of a size that ends at i as it is.
func (p *proof) keep(r rune, i, size int) {
	p.out.WriteString(p.text[i-size : i])
	switch {
	case r < utf8.RuneSelf:
		p.letter, p.marks = isASCIILetter(r), 0
	case unicode.Is(unicode.M, r):
		p.marks++
	default:
		p.letter, p.marks = unicode.IsLetter(r), 0
	}
	p.plain, p.escaped = isASCIIWord(r), false
}

func (p *proof) escape(why reason, r rune, i, size int) {
	p.out.escape(why, r, p.text[i-size:i])
	p.plain, p.escaped, p.letter, p.marks = false, true, false, 0
}

// copyEscape copies an escape of n bytes, which may be one the text spells itself.
func (p *proof) copyEscape(i, n int) {
	if len(p.known) > 0 && p.known[0].from == i {
		p.known = p.known[1:]
		p.out.of.escapes = append(p.out.of.escapes, span{p.out.Len(), p.out.Len() + n})
	}
	p.out.WriteString(p.text[i : i+n])
	p.plain, p.escaped, p.letter, p.marks = false, true, false, 0
}
