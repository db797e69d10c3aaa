package elicit

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
)

// form has the fields filled in on a terminal whose cursor can move.
func (t *Terminal) form(ctx context.Context, fields []*field) error {
	inputs := make([]huh.Field, len(fields))
	for i, f := range fields {
		inputs[i] = f.input()
	}
	// Signals belong to the command, which ends ctx; Ctrl-C arrives as a key.
	err := huh.NewForm(huh.NewGroup(inputs...)).
		WithAccessible(false).
		WithProgramOptions(tea.WithoutSignalHandler()).
		WithInput(t.in).
		WithOutput(t.out).
		RunWithContext(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, huh.ErrUserAborted):
		return ErrInterrupted
	}
	return err
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
		menu := huh.NewSelect[int]().Title(f.title).Description(f.help).Options(options...).Value(&f.chosen)
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
