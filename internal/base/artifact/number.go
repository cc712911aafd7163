package artifact

import "encoding/json"

// Number returns a JSON number, as it was read or is to be written, as a float; false for any other value.
func Number(v any) (float64, bool) {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case float64:
		return v, true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case int:
		return float64(v), true
	}
	return 0, false
}
