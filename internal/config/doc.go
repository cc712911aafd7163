// Package config holds the configuration of one benchmark: what was asked for and what will happen.
//
// [Run] and its parts are plain data that all other rooms read. The rooms below turn what the user wrote into a Run,
// each in one step:
//
//	config/flags        arguments of a command   → uses of flags
//	config/option       the table of options     → names, grammar, limits, defaults, help, YAML path
//	config/env          environment variables    → env.Values
//	config/settings     arguments, environment   → settings.Settings: a value and its origin for each option
//	config/parse        a text with a grammar    → a typed value
//	config/resolve      Settings                 → Run: defaults, rules, cross checks
//	config/file         a configuration file     → settings.Settings, and a Run → the body that exports carry
//
// Vocabulary: an option is a row of the table, a flag is one of its spellings, a value is given when a flag or a file
// set it (an environment variable or a default does not count as given), a fault is one line about something that the
// user has to change.
//
// Invariant: a Run holds no open question. Whatever depends on another value has been decided, and no room above knows
// about flags. This package must never know how a Run is made, terminals, or servers.
package config
