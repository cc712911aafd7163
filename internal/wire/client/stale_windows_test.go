package client

func canSeeStale() bool { return false }
