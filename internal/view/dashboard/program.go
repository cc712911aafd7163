package dashboard

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"aiperf/internal/base/artifact"
)

// model is the dashboard as a program: what is on the screen, and what was typed. It changes only on the goroutine of the
// program.
type model struct {
	d      *Dashboard
	screen screen
	// notice is shown until an instant.
	notice   string
	noticeTo time.Time
	spinner  int
	frame    string
	drawn    bool
}

func newModel(d *Dashboard) *model {
	m := &model{d: d, screen: newScreen(d.options.GPUs)}
	m.screen.canvas.mono = !d.options.Colour
	return m
}

type tick struct{}

func (m *model) next() tea.Cmd {
	return tea.Tick(m.d.options.Frame, func(time.Time) tea.Msg { return tick{} })
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd {
	m.rawAgain()
	return m.next()
}

// rawAgain is called when the terminal has become raw.
func (m *model) rawAgain() {
	if in, isFile := m.d.options.In.(*os.File); isFile {
		keepInterrupts(in)
	}
}

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.drawn = false
	switch msg := msg.(type) {
	case tick:
		m.spinner++
		return m, m.next()
	case tea.ResumeMsg:
		m.rawAgain()
	case tea.WindowSizeMsg:
		m.screen.resize(msg.Width, msg.Height)
	case tea.KeyPressMsg:
		return m, m.key(msg.String())
	case tea.MouseClickMsg:
		if msg.Button == tea.MouseLeft {
			if key := m.screen.click(msg.X, msg.Y); key != "" {
				return m, m.key(key)
			}
		}
	case tea.MouseWheelMsg:
		lines := 3
		if msg.Button == tea.MouseWheelUp {
			lines = -3
		}
		m.screen.scrollAt(msg.X, msg.Y, lines)
	default:
		m.drawn = true // nothing has changed
	}
	return m, nil
}

// key does what a key asks for.
func (m *model) key(name string) tea.Cmd {
	if m.d.options.Watch && (name == "q" || slices.Contains(m.d.options.absentKeys(), name)) {
		if name != "q" {
			return nil
		}
		name = "ctrl+c"
	}
	switch name {
	case "ctrl+c": // where it is no signal
		if m.d.options.Interrupt != nil {
			m.d.options.Interrupt()
		}
		return tea.Quit
	case "ctrl+z":
		return tea.Suspend
	case "ctrl+s":
		m.screenshot()
	case "c":
		return m.copyLog()
	default:
		m.screen.key(name)
	}
	return nil
}

// say shows a notice at the right of the footer for a while.
func (m *model) say(text string) {
	m.notice, m.noticeTo = text, time.Now().Add(m.d.options.Notice)
}

func (m *model) copyLog() tea.Cmd {
	lines, _ := m.d.log.newest()
	text := strings.Join(lines, "\n")
	if text == "" {
		m.say("No logs to copy")
		return nil
	}
	m.say(fmt.Sprintf("Copied %d characters to clipboard", len([]rune(text))))
	return tea.SetClipboard(text)
}

// screenshot writes the screen as a picture beside the files of the run.
func (m *model) screenshot() {
	dir := m.d.options.Dir
	if s := m.d.newest(); s.run != nil && s.run.Dir != "" {
		dir = s.run.Dir
	}
	m.draw()
	path := filepath.Join(dir, "dashboard_"+time.Now().Format("20060102_150405.000")+".svg")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		m.say("No screenshot: " + err.Error())
		return
	}
	if err := artifact.WriteFile(path, m.screen.canvas.svg(m.d.options.Title)); err != nil {
		m.say("No screenshot: " + err.Error())
		return
	}
	m.say("Screenshot: " + path)
}

// draw draws a frame.
func (m *model) draw() {
	notice := ""
	if time.Now().Before(m.noticeTo) {
		notice = m.notice
	}
	m.screen.draw(m.d.frame(m.spinner, notice, time.Now()))
}

// View implements tea.Model.
func (m *model) View() tea.View {
	if !m.drawn {
		m.draw()
		m.frame, m.drawn = m.screen.canvas.String(), true
	}
	v := tea.NewView(m.frame)
	v.AltScreen, v.MouseMode = true, tea.MouseModeCellMotion
	v.WindowTitle = m.d.options.Title
	return v
}
