package elicit

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
	"github.com/charmbracelet/colorprofile"
)

// form has the fields filled in on a terminal whose cursor can move.
func (t *Terminal) form(ctx context.Context, asked *form) error {
	form := huh.NewForm(asked.groups()...)
	form.SubmitCmd, form.CancelCmd = tea.Quit, tea.Quit
	// Signals belong to the command, which ends ctx; Ctrl-C arrives as a key.
	options := []tea.ProgramOption{tea.WithInput(t.in), tea.WithOutput(t.out), tea.WithoutSignalHandler()}
	if t.NoColor {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	program := tea.NewProgram(model{form}, options...)
	stop := context.AfterFunc(ctx, program.Quit)
	defer stop()
	_, err := program.Run()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case form.State == huh.StateAborted:
		return ErrInterrupted
	}
	return err
}

// A model is a form as a program of its own. It always quits in good order, which
// is when the program waits until nothing reads the terminal any more; the form's
// own way to run does not when it is interrupted or cancelled.
type model struct{ form *huh.Form }

func (m model) Init() tea.Cmd { return m.form.Init() }

func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := m.form.Update(msg) // the form updates itself
	return m, cmd
}

func (m model) View() tea.View { return tea.NewView(m.form.View()) }

// groups are the fields as they are shown: together, up to one that is asked only
// after some answers. That one stands alone.
func (f *form) groups() []*huh.Group {
	var groups []*huh.Group
	var together []huh.Field
	for i, field := range f.fields {
		if field.when == nil {
			together = append(together, field.input())
		}
		if len(together) > 0 && (field.when != nil || i == len(f.fields)-1) {
			groups = append(groups, huh.NewGroup(together...))
			together = nil
		}
		if field.when != nil {
			groups = append(groups, huh.NewGroup(field.input()).WithHideFunc(func() bool { return !f.asks(i) }))
		}
	}
	return groups
}

// tallest is how many options of a choice are shown at a time.
const tallest = 12

// input is the widget of a field.
func (f *field) input() huh.Field {
	check := func(typed string) error {
		_, _, err := f.read(typed)
		return err
	}
	switch f.kind {
	case choice:
		options := make([]huh.Option[int], len(f.options))
		for i, o := range f.options {
			options[i] = huh.NewOption(o.label, i)
		}
		if f.chosen < 0 { // an Enter too many must not choose
			options = append([]huh.Option[int]{huh.NewOption("(choose one)", -1)}, options...)
		}
		menu := huh.NewSelect[int]().Title(f.title).Description(f.help).Options(options...).Value(&f.chosen).
			Validate(func(chosen int) error {
				if chosen < 0 {
					return errors.New("choose one")
				}
				return nil
			})
		if len(options) > tallest {
			menu.Height(tallest)
		}
		return menu
	case jsonText:
		return huh.NewText().Title(f.title).Description(f.help).Value(&f.written).
			ExternalEditor(false).Validate(check)
	}
	return huh.NewInput().Title(f.title).Description(f.help).Value(&f.written).Validate(check)
}
