package main

// held returns the situations that are set apart: who writes rules does not look at them.
func held() []situation {
	return nil
}
