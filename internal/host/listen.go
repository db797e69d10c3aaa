package host

import (
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// Bounds on one request to a Site.
const (
	MaxForm       = 8 << 20  // bytes of a form as it is sent
	maxSiteHeader = 16 << 10 // bytes of header fields
	siteTimeout   = time.Minute
)

// A Site serves pages to a browser on this machine. It listens on 127.0.0.1 and
// nowhere else, answers only requests that name that address as their host, so
// that no other name can be made to lead here, takes forms only from its own
// pages, and lets no other site frame, read or cache what it serves. A request
// for a path that has no page learns nothing and has no body read. It is safe for
// concurrent use.
type Site struct {
	host   string // as a browser names it
	server *http.Server
	ended  chan struct{} // closed when nothing is served any more

	mu    sync.Mutex
	pages map[string]Page
}

// A Page answers visits. Several may be under way at a time.
type Page func(Visit) Reply

// A Visit is one request for a page: to read it, or with a form somebody sent.
type Visit struct {
	Posted bool
	Form   url.Values // of a posted form
}

// A Reply is what a browser gets to see.
type Reply struct {
	Status int
	HTML   []byte
	Policy string // of the content: a Content-Security-Policy
	Sent   func() // called when the reply was handed over, or could not be; may be nil
}

// NewSite starts to listen, on a port the system chooses. Close it.
func NewSite() (*Site, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("no page can be shown, because nothing can listen on 127.0.0.1: %w", err)
	}
	s := &Site{host: listener.Addr().String(), ended: make(chan struct{}), pages: map[string]Page{}}
	s.server = &http.Server{
		Handler:                      http.HandlerFunc(s.serve),
		DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout:            siteTimeout / 6,
		ReadTimeout:                  siteTimeout,
		WriteTimeout:                 2 * siteTimeout, // counts from the end of the header
		MaxHeaderBytes:               maxSiteHeader,
		ErrorLog:                     log.New(io.Discard, "", 0),
	}
	s.server.SetKeepAlivesEnabled(false) // an answered request leaves nothing open
	go func() {
		defer close(s.ended)
		s.server.Serve(listener)
	}()
	return s, nil
}

// Address is the URL of a path, which starts with a slash.
func (s *Site) Address(path string) string { return "http://" + s.host + path }

// Show serves a page at a path, in place of the one that was there.
func (s *Site) Show(path string, p Page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[path] = p
}

// Ended is closed when nothing is served any more: after Close, or because the
// system took the port away.
func (s *Site) Ended() <-chan struct{} { return s.ended }

// Close stops listening and closes every connection, whatever is under way on it.
func (s *Site) Close() error {
	err := s.server.Close()
	<-s.ended
	return err
}

func (s *Site) page(path string) Page {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pages[path]
}

func (s *Site) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // with none at all a browser does not say where a form comes from
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	page := s.page(r.URL.Path)
	switch {
	case r.Host != s.host:
		refuseVisit(w, http.StatusMisdirectedRequest, "This is not the address of the page.")
		return
	case page == nil:
		refuseVisit(w, http.StatusNotFound, "There is no page here.")
		return
	}
	var v Visit
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPost:
		if status, reason := s.readForm(w, r); status != 0 {
			refuseVisit(w, status, reason)
			return
		}
		v = Visit{Posted: true, Form: r.PostForm}
	default:
		h.Set("Allow", "GET, HEAD, POST")
		refuseVisit(w, http.StatusMethodNotAllowed, "A page is read with GET and answered with POST.")
		return
	}
	reply := page(v)
	if reply.Sent != nil {
		defer reply.Sent()
	}
	h.Set("Content-Security-Policy", reply.Policy)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(reply.HTML)))
	w.WriteHeader(reply.Status)
	w.Write(reply.HTML)
	http.NewResponseController(w).Flush()
}

// readForm reads the form of a request into PostForm. A refusal has a status and
// a reason; the status is 0 when there is none.
func (s *Site) readForm(w http.ResponseWriter, r *http.Request) (status int, reason string) {
	site := r.Header.Get("Sec-Fetch-Site")
	for _, origin := range r.Header.Values("Origin") {
		if origin != "http://"+s.host {
			site = "elsewhere"
		}
	}
	if site != "" && site != "same-origin" {
		return http.StatusForbidden, "The form does not come from this page."
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return http.StatusUnsupportedMediaType, "A form is sent as application/x-www-form-urlencoded."
	}
	r.Body = http.MaxBytesReader(w, r.Body, MaxForm)
	err = r.ParseForm()
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return http.StatusRequestEntityTooLarge, "The form is larger than 8 MiB; go back and shorten it."
	}
	if err != nil {
		return http.StatusBadRequest, "The form cannot be read."
	}
	return 0, ""
}

func refuseVisit(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, text+"\n")
}
