package sigv4_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client/sigv4"
)

// alone keeps the credentials of this machine away.
func alone(t *testing.T) {
	t.Helper()
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	none := filepath.Join(t.TempDir(), "none")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", none)
	t.Setenv("AWS_CONFIG_FILE", none)
}

// suite runs a test with the signer of AWS's published test suite of signature version 4, at its instant: key, instant
// and scope are its own, and so are the signatures.
func suite(t *testing.T, token string, test func(t *testing.T, s *sigv4.Signer)) {
	alone(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
	t.Setenv("AWS_SESSION_TOKEN", token)
	synctest.Test(t, func(t *testing.T) {
		s, err := sigv4.New(t.Context(), sigv4.Options{Region: "us-east-1", Service: "service"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)))
		test(t, s)
	})
}

func headerOf(list []record.Header, name string) string {
	for _, h := range list {
		if h.Name == name {
			return h.Value
		}
	}
	return ""
}

func TestPublishedSignatures(t *testing.T) {
	for _, c := range []struct {
		name, method, url, contentType, body string
		signed, signature                    string
	}{
		{"get-vanilla", "GET", "https://example.amazonaws.com/", "", "", "host;x-amz-date",
			"5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"post-vanilla", "POST", "https://example.amazonaws.com/", "", "", "host;x-amz-date",
			"5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		{"get-vanilla-query-order-key-case", "GET", "https://example.amazonaws.com/?Param2=value2&Param1=value1", "",
			"", "host;x-amz-date",
			"b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
	} {
		t.Run(c.name, func(t *testing.T) {
			u, err := url.Parse(c.url)
			if err != nil {
				t.Fatal(err)
			}
			headers := []record.Header{{Name: "Host", Value: "example.amazonaws.com"}}
			want := "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=" +
				c.signed + ", Signature=" + c.signature
			suite(t, "", func(t *testing.T, s *sigv4.Signer) {
				got, err := s.Sign(c.method, u, headers, []byte(c.body))
				if err != nil {
					t.Fatal(err)
				}
				if a := headerOf(got, "Authorization"); a != want || headerOf(got, "X-Amz-Date") != "20150830T123600Z" {
					t.Errorf("signed as\n%s\nwant\n%s", a, want)
				}
			})
		})
	}
}

// What the signature covers changes it: body, headers, path and Host; what goes its own way does not.
func TestTrapSignatureCoversTheExactBytes(t *testing.T) {
	u, _ := url.Parse("https://h/v1/chat")
	suite(t, "", func(t *testing.T, s *sigv4.Signer) {
		sign := func(path, body string, headers ...record.Header) string {
			target := *u
			target.Path = path
			got, err := s.Sign("POST", &target, headers, []byte(body))
			if err != nil {
				t.Fatal(err)
			}
			return headerOf(got, "Authorization")
		}
		plain := sign("/v1/chat", "{}")
		for name, other := range map[string]string{
			"body":   sign("/v1/chat", "{ }"),
			"path":   sign("/v1/chat2", "{}"),
			"host":   sign("/v1/chat", "{}", record.Header{Name: "Host", Value: "other"}),
			"header": sign("/v1/chat", "{}", record.Header{Name: "X-Request-ID", Value: "1"}),
		} {
			if other == plain {
				t.Errorf("the %s is not signed", name)
			}
		}
		if sign("/v1/chat", "{}", record.Header{Name: "Authorization", Value: "Bearer x"}) != plain {
			t.Error("credentials of another kind are signed")
		}
	})
}

func TestSessionTokenIsSentAndSigned(t *testing.T) {
	u, _ := url.Parse("https://h/")
	suite(t, "the-token", func(t *testing.T, s *sigv4.Signer) {
		got, err := s.Sign("POST", u, nil, nil)
		if err != nil || headerOf(got, "X-Amz-Security-Token") != "the-token" ||
			!strings.Contains(headerOf(got, "Authorization"), "x-amz-security-token") {
			t.Errorf("%v %v", got, err)
		}
	})
}

// The credentials come from a shared file by its profile, or from nowhere.
func TestCredentialsOfAProfile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(file, []byte("[mine]\naws_access_key_id = AKIDMINE\naws_secret_access_key = "+
		"secret-of-mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	alone(t)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	s, err := sigv4.New(t.Context(), sigv4.Options{Region: "r", Service: "s", Profile: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse("https://h/")
	if got, err := s.Sign("POST", u, nil, nil); err != nil ||
		!strings.Contains(headerOf(got, "Authorization"), "Credential=AKIDMINE/") {
		t.Errorf("%v %v", got, err)
	}
	if _, err := sigv4.New(t.Context(), sigv4.Options{Region: "r", Service: "s", Profile: "other"}); err == nil ||
		!strings.Contains(err.Error(), "--aws-profile") || strings.Contains(err.Error(), "secret-of-mine") {
		t.Errorf("a profile that is not there: %v", err)
	}
	if _, err := sigv4.New(t.Context(), sigv4.Options{Region: "r", Service: "s"}); err == nil ||
		!strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") {
		t.Errorf("no credentials: %v", err)
	}
}
