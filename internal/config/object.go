package config

import "aiperf/internal/base/artifact"

// Object is a JSON object that keeps the order of its keys. Values are nil, bool, string, int64,
// float64 (written with a decimal point or exponent), json.Number (an integer beyond 64 bits), Object,
// or []any of these.
type Object = artifact.Object

// Member is one key of an Object.
type Member = artifact.Member
