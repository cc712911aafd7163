package artifact_test

import (
	"testing"

	"aiperf/internal/base/artifact"
)

func TestIsSensitiveName(t *testing.T) {
	for _, name := range []string{
		"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-API-Key", "api-key", "apikey", "api_key",
		"apiKey", "API_KEYS", "key",
		"x-goog-api-key", "Ocp-Apim-Subscription-Key", "X-Functions-Key", "aeg-sas-key", "X-RapidAPI-Key",
		"tls_client_key",
		"token", "X-Auth-Token", "PRIVATE-TOKEN", "X-Vault-Token", "X-Api-Token", "X-Access-Token",
		"X-Amz-Security-Token", "accessToken",
		"authtoken", "session_token", "HF_TOKEN", "refresh_token", "X-Client-Secret", "CF-Access-Client-Secret",
		"client_secret",
		"CF-Access-Client-Id-Secret", "secretKey", "X-Password", "password", "passwd", "db_password", "passphrase",
		"credentials",
		"AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "X-Amz-Credential", "X-Amz-Signature", "sig", "auth", "X-Auth",
		"X-Auth-User", "basic_auth",
		"Session", "X-Session", "X-Session-Key", "private", "private_key", " token ",
	} {
		if !artifact.IsSensitiveName(name) {
			t.Errorf("%s is not sensitive", name)
		}
	}
	for _, name := range []string{
		"", "max_tokens", "min_tokens", "max_completion_tokens", "stop_token_ids", "eos_token", "bos_token_id",
		"special_tokens", "token_ids",
		"return_token_ids", "add_special_tokens", "tokenizer", "tokenize", "skip_special_tokens", "first_token",
		"token_count",
		"prompt_cache_key", "X-SMG-Routing-Key", "Idempotency-Key", "top_k", "keyword", "monkey", "keep_alive",
		"author", "authority",
		"session_id", "X-Session-ID", "x-session-affinity", "X-Dynamo-Session-ID", "num-sessions", "X-Request-ID",
		"X-Correlation-ID",
		"Content-Type", "User-Agent", "temperature", "ignore_eos", "model", "designation", "significant", "secondary",
	} {
		if artifact.IsSensitiveName(name) {
			t.Errorf("%s is sensitive", name)
		}
	}
}
