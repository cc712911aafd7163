package main

// healthy returns runs without a cause: the server does what was asked, at the load that was asked for.
func healthy() []situation {
	return nil
}
