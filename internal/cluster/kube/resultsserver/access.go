package resultsserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"aiperf/internal/cluster/kube/deployed"
	"aiperf/internal/cluster/kube/operator"
)

// The ways in which a request has the token beside "Authorization: Bearer" and [deployed.TokenHeader]: a browser sends it
// in the address of the first page, and from then on as a cookie.
const (
	tokenParameter = "token"
	tokenCookie    = "aiperf_token"
)

// equal compares tokens in a time that says nothing about them. The empty token equals none.
func equal(want, got string) bool {
	a, b := sha256.Sum256([]byte(want)), sha256.Sum256([]byte(got))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && want != ""
}

func bearer(r *http.Request) string {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return token
}

// readable returns an error unless a request may read: 401 without the token, that of the changes, or that of the
// namespace which is asked for. The page that a browser opens with the token sets the cookie.
func (s *Server) readable(w http.ResponseWriter, r *http.Request) error {
	if s.o.ReadToken == "" {
		return nil
	}
	tokens := []string{bearer(r), r.Header.Get(deployed.TokenHeader)}
	if c, err := r.Cookie(tokenCookie); err == nil {
		tokens = append(tokens, c.Value)
	}
	inAddress := r.URL.Query().Get(tokenParameter)
	for _, token := range append(tokens, inAddress) {
		namespace := r.PathValue("namespace")
		if equal(s.o.ReadToken, token) || equal(s.o.Token, token) ||
			namespace != "" && equal(operator.NamespaceToken(s.o.ReadToken, namespace), token) {
			if token == inAddress {
				http.SetCookie(w, &http.Cookie{Name: tokenCookie, Value: token, Path: "/", HttpOnly: true,
					SameSite: http.SameSiteStrictMode})
				w.Header().Set("Referrer-Policy", "no-referrer")
			}
			return nil
		}
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	return fault{http.StatusUnauthorized, "the token of the results server is missing or wrong; aiperf kube dashboard and " +
		"aiperf kube results read it from the operator's secret"}
}
