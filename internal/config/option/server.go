package option

// serverFields are the options of a server that is started for the benchmark.
type serverFields struct {
	ServeCmd, ResetCmd Opt[string]
	ServeParams        Opt[[]string]
	ServeTimeout       Opt[float64]
}

func (s *serverFields) rows() []Option {
	return []Option{
		opt(&s.ServeCmd, "serve-cmd", "", 2, "Command, for the system's shell, that starts the server before the "+
			"first run and stays in the foreground. It is ended after the last run with all that it has started."),
		opt(&s.ServeParams, "serve-params", "", 2, "Parameters of --serve-cmd: key=value, or key=v1,v2 to sweep them, "+
			"or a JSON or YAML file with a list of mappings. {key} in the command is replaced by the value; else "+
			"--key value is appended. Several flags combine as a grid. The server is restarted when its parameters "+
			"change.", whole),
		opt(&s.ResetCmd, "reset-cmd", "", 2, "Command that is run between two runs of a sweep or series that use the "+
			"same server, such as one that clears its cache. {key} is replaced as in --serve-cmd."),
		opt(&s.ServeTimeout, "serve-timeout", "600", 2,
			"Seconds within which the server must be ready after its start, and --reset-cmd must end.", seconds,
			limits(Above(0))),
	}
}
