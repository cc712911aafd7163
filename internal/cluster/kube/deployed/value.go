package deployed

import "aiperf/internal/cluster/kube/client"

// at is the value at a path of mappings; nil if there is none.
func at(o client.Object, path ...string) any {
	var v any = o
	for _, key := range path {
		m, ok := v.(client.Object)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

// text is a text at a path; "" if there is none.
func text(o client.Object, path ...string) string {
	s, _ := at(o, path...).(string)
	return s
}

// Text is a text at a path of an object; "" if there is none.
func Text(o client.Object, path ...string) string { return text(o, path...) }

// number is a number at a path.
func number(o client.Object, path ...string) (float64, bool) {
	switch n := at(o, path...).(type) {
	case float64:
		return n, true
	case int64:
		return float64(n), true
	}
	return 0, false
}

func integer(o client.Object, path ...string) (int, bool) {
	n, ok := number(o, path...)
	return int(n), ok
}

// items are the mappings of a list at a path.
func items(o client.Object, path ...string) (list []client.Object) {
	all, _ := at(o, path...).([]any)
	for _, x := range all {
		if m, ok := x.(client.Object); ok {
			list = append(list, m)
		}
	}
	return list
}

// Value is the value at a path of an object; nil if there is none.
func Value(o client.Object, path ...string) any { return at(o, path...) }

// Number is a number at a path of an object.
func Number(o client.Object, path ...string) (float64, bool) { return number(o, path...) }

// Items are the mappings of a list at a path of an object.
func Items(o client.Object, path ...string) []client.Object { return items(o, path...) }
