package webserver

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"aiperf/internal/base/webpage"
)

// keyName is the name of the key in an address; its cookie has the port behind it, because ports share cookies.
const keyName = "key"

// nothing takes the lines that net/http writes about clients that misbehave.
var nothing = log.New(io.Discard, "", 0)

func newKey() string { return rand.Text() }

// hardened sets the headers of all replies. A handler replaces the policy where its page needs more.
func hardened(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Content-Security-Policy", webpage.DefaultPolicy)
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("X-Frame-Options", "DENY")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cross-Origin-Opener-Policy", "same-origin")
		head.Set("Cache-Control", "no-store")
		h.ServeHTTP(w, r)
	})
}

// inText refuses a request with a line of text.
func inText(w http.ResponseWriter, status int, why string) { http.Error(w, why, status) }

// withinRoot refuses paths with .. elements, however they are encoded, before anything cleans them.
func withinRoot(h http.Handler, refuse func(http.ResponseWriter, int, string)) http.Handler {
	if refuse == nil {
		refuse = inText
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if leadsOut(r.URL.Path) {
			refuse(w, http.StatusBadRequest, "the path leads out of the folder")
			return
		}
		h.ServeHTTP(w, r)
	})
}

// leadsOut reports whether a path, or what it becomes when it is decoded once more, has an element .. or a NUL byte.
func leadsOut(path string) bool {
	for range 3 {
		if strings.ContainsRune(path, 0) {
			return true
		}
		for element := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
			if element == ".." {
				return true
			}
		}
		further, err := url.PathUnescape(path)
		if err != nil || further == path {
			break
		}
		path = further
	}
	return false
}

// ofThisMachine answers only requests for an address or for localhost.
func ofThisMachine(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !local(r.Host) {
			http.Error(w, fmt.Sprintf("The host %q is not a name of this machine: use 127.0.0.1 or localhost.", r.Host),
				http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// withKey asks for the key: in the address, in a cookie or as a bearer token. A browser that opens a page with the key
// in its address gets the cookie and the address without it.
func withKey(h http.Handler, key string, port int) http.Handler {
	cookie := fmt.Sprintf("aiperf-%s-%d", keyName, port)
	right := func(given string) bool { return subtle.ConstantTimeCompare([]byte(given), []byte(key)) == 1 }
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		if right(query.Get(keyName)) {
			http.SetCookie(w, &http.Cookie{
				Name: cookie, Value: key, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
			})
			if r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" {
				query.Del(keyName)
				to := url.URL{Path: r.URL.Path, RawQuery: query.Encode()}
				http.Redirect(w, r, to.String(), http.StatusSeeOther)
				return
			}
			h.ServeHTTP(w, r)
			return
		}
		held, err := r.Cookie(cookie)
		bearer, given := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if err == nil && right(held.Value) || given && right(bearer) {
			h.ServeHTTP(w, r)
			return
		}
		http.Error(w, "The key is missing or wrong: open the address that aiperf printed, with its ?key=…",
			http.StatusUnauthorized)
	})
}

// sameOrigin refuses requests of other origins that change something, and lets the configured origins read replies.
func sameOrigin(h http.Handler, origins []string) (http.Handler, error) {
	all := slices.Contains(origins, "*")
	protection := http.NewCrossOriginProtection()
	if all {
		protection.AddInsecureBypassPattern("/")
	}
	for _, o := range origins {
		if o == "*" {
			continue
		}
		if err := protection.AddTrustedOrigin(o); err != nil {
			return nil, fmt.Errorf("%q is not an origin: give scheme://host or scheme://host:port", o)
		}
	}
	guarded := protection.Handler(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if len(origins) > 0 {
			w.Header().Add("Vary", "Origin")
		}
		if origin != "" && (all || slices.Contains(origins, origin)) {
			head := w.Header()
			head.Set("Access-Control-Allow-Origin", origin)
			head.Set("Access-Control-Expose-Headers", "Content-Disposition, X-Filename")
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				head.Set("Access-Control-Allow-Methods", "GET, POST, OPTIONS")
				head.Set("Access-Control-Allow-Headers", "Content-Type, Authorization")
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		guarded.ServeHTTP(w, r)
	}), nil
}
