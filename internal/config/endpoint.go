package config

import (
	"net/netip"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/pluginfile"
)

// Header is one request header that the user asked for.
type Header struct{ Name, Value string }

// Endpoint says what is asked and how.
type Endpoint struct {
	// Type is the canonical endpoint type, such as "chat".
	Type string
	// URLs are base URLs with a scheme, otherwise as given; they may hold user information.
	URLs []string
	// URLStrategy is "round_robin".
	URLStrategy string
	// Plugin is the command of the program that is the endpoint, "" = none; Type is then "plugin".
	Plugin string
	// Program is the declaration of that program, nil if a flag gives its command.
	Program *pluginfile.Program
	// CustomPath replaces the type's own path when it is not nil.
	CustomPath *string
	// Streaming is off for types that cannot stream, whatever was asked.
	Streaming bool
	// TimeoutSeconds bounds a whole request; always above 0.
	TimeoutSeconds float64
	// APIKey is a secret: never written, logged or shown.
	APIKey string
	// Headers are the user's own, unique by name ignoring case; values may be secret.
	Headers []Header
	// URLHeaders are further headers of the requests to each of the URLs; nil: there are none.
	URLHeaders [][]Header
	// SessionCookies: later requests of a session carry the cookies that replies set, and of the headers in EchoHeaders
	// the last value that a reply had.
	SessionCookies bool
	EchoHeaders    []string
	// Extra is merged into every body.
	Extra               artifact.Object
	UseLegacyMaxTokens  bool
	UseServerTokenCount bool
	// ChunkUsage asks for usage with every chunk of a stream.
	ChunkUsage bool
	// ConnectionReuse is "pooled", "never" or "sticky-user-sessions".
	ConnectionReuse string
	// SessionHeader is the name of the header that carries the correlation id.
	SessionHeader string
	// SourceAddresses are those that connections start from; none leaves the choice to the system.
	SourceAddresses []netip.Addr
	// Form asks for multipart bodies; types that know no others send them anyway.
	Form bool
	// DownloadVideo fetches generated videos.
	DownloadVideo bool
	// GRPC: calls of gRPC carry the requests.
	GRPC bool
	// HTTP2 uses HTTP/2 only; UnixSocket is the path that every connection goes through, "" = TCP.
	HTTP2      bool
	UnixSocket string
	TLS        TLS
	// Signing is nil when requests are not signed.
	Signing *Signing
	// SageMaker is nil for other servers.
	SageMaker *SageMaker
	// Ready is nil when the server is not asked whether it is ready.
	Ready *Readiness
	// ResetCache and Profiler are nil when these hooks are off.
	ResetCache *CacheReset
	Profiler   *Profiler
}

// TLS names PEM files; empty = none.
type TLS struct{ CAFile, CertFile, KeyFile string }

// Signing is AWS signature version 4.
type Signing struct{ Region, Service, Profile string }

// SageMaker says what of an endpoint is invoked; empty = whatever it takes.
type SageMaker struct{ EndpointName, TargetModel, InferenceComponent, TargetVariant string }

// Readiness says how the server is waited for.
type Readiness struct {
	// Mode is "models", "inference" or "both".
	Mode              string
	Timeout, Interval time.Duration
}

// CacheReset is a request before the run that makes the server reset its prefix cache.
type CacheReset struct {
	Path    string
	Timeout time.Duration
	// Retry is how long a busy server is asked again.
	Retry time.Duration
}

// Profiler starts and stops the server's profiler around profiling.
type Profiler struct {
	StartPath, StopPath string
	Timeout             time.Duration
}

// Tokenizer names the vocabulary that counts. An empty name means that none is needed.
type Tokenizer struct {
	// Name is the user's own choice or that of the first model.
	Name string
	// Given reports that the user chose it.
	Given bool
	// ByModel names the vocabulary of each model in their order.
	ByModel []string
	// Revision is the branch, tag or commit of a tokenizer from the hub.
	Revision string
	// ChatTemplate counts input as the model's chat template spells it.
	ChatTemplate bool
}
