package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// A page is a question as a browser shows it.
type page struct {
	address string
	message string
	hidden  url.Values // what the form sends beside the answer
	fields  []*field
}

// A field is a place for a part of an answer.
type field struct {
	name, title string
	options     []string // what there is to choose from, by the value that is sent
}

// open reads the page at an address.
func open(ctx context.Context, address string) (*page, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	root, err := html.Parse(response.Body)
	if err != nil {
		return nil, err
	}
	p := &page{address: address, hidden: url.Values{}}
	for n := range root.Descendants() {
		p.read(n)
	}
	if len(p.fields) == 0 {
		return nil, errors.New("the page has no form")
	}
	return p, nil
}

// read takes up one element.
func (p *page) read(n *html.Node) {
	switch {
	case n.Type != html.ElementNode:
	case n.Data == "pre":
		p.message += textOf(n)
	case n.Data == "input" && attribute(n, "type") == "hidden":
		p.hidden.Set(attribute(n, "name"), attribute(n, "value"))
	case n.Data == "fieldset":
		p.fields = append(p.fields, &field{name: attribute(n, "id")})
	case n.Data == "legend" && len(p.fields) > 0:
		p.fields[len(p.fields)-1].title = titleOf(n)
	case n.Data == "label" && attribute(n, "class") == "option" && len(p.fields) > 0:
		last := p.fields[len(p.fields)-1]
		last.options = append(last.options, strings.TrimSpace(textOf(n)))
	case n.Data == "label":
		p.fields = append(p.fields, &field{name: attribute(n, "for"), title: titleOf(n)})
	}
}

// answer sends an answer.
func (p *page) answer(ctx context.Context, a answer) error {
	form := url.Values{}
	for _, e := range a {
		i := slices.IndexFunc(p.fields, func(f *field) bool { return f.title == e.field })
		if i < 0 {
			return fmt.Errorf("the question has no field %q", e.field)
		}
		value := e.value
		if f := p.fields[i]; len(f.options) > 0 {
			index := slices.Index(f.options, value)
			if index < 0 {
				return fmt.Errorf("%q is not offered, but %s", value, strings.Join(f.options, ", "))
			}
			value = fmt.Sprint(index)
		}
		form.Set(p.fields[i].name, value)
	}
	for name, values := range p.hidden {
		form[name] = values
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.address, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the answer was not taken: %s", response.Status)
	}
	return nil
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// titleOf is what a field is called, without what stands beside it.
func titleOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.ChildNodes() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return strings.TrimSpace(b.String())
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}
