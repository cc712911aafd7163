package runlog

import (
	"log/slog"
	"strings"
)

// The levels, ascending. Those of slog have its numbers.
const (
	LevelTrace    = slog.Level(-8)
	LevelDebug    = slog.LevelDebug
	LevelInfo     = slog.LevelInfo
	LevelNotice   = slog.Level(2)
	LevelWarning  = slog.LevelWarn
	LevelSuccess  = slog.Level(6)
	LevelError    = slog.LevelError
	LevelCritical = slog.Level(12)
)

var levels = [...]struct {
	level slog.Level
	name  string
	color string
}{
	{LevelTrace, "TRACE", "2"},
	{LevelDebug, "DEBUG", "36"},
	{LevelInfo, "INFO", "34"},
	{LevelNotice, "NOTICE", "1;34"},
	{LevelWarning, "WARNING", "33"},
	{LevelSuccess, "SUCCESS", "32"},
	{LevelError, "ERROR", "31"},
	{LevelCritical, "CRITICAL", "1;31"},
}

// ParseLevel returns the level of a name in upper or lower case.
func ParseLevel(name string) (slog.Level, bool) {
	for _, l := range levels {
		if strings.EqualFold(l.name, name) {
			return l.level, true
		}
	}
	return 0, false
}

// LevelName returns the name of the highest level that l reaches.
func LevelName(l slog.Level) string { return levels[levelIndex(l)].name }

func levelIndex(l slog.Level) int {
	for i := len(levels) - 1; i > 0; i-- {
		if l >= levels[i].level {
			return i
		}
	}
	return 0
}
