package cli

import (
	"fmt"
	"strings"

	"github.com/executable-markdown/xmd/internal/property"
	"github.com/executable-markdown/xmd/internal/value"
)

// collectProperties settles the properties of a run from its words and its environment
// (language 9.4). What is wrong with them is a usage error.
func collectProperties(declared *property.Set, words []propsWord, env map[string]string) (*value.Object, error) {
	from := property.Sources{Env: env}
	for _, w := range words {
		switch {
		case w.option == "--props": // the last one replaces earlier ones
			from.Aggregate = &w.value
		case w.hasValue:
			from.Words = append(from.Words, property.Word{Option: w.option, Value: w.value})
		default:
			from.Words = append(from.Words, property.Word{Option: w.option, Value: "true"})
		}
	}
	props, err := declared.Collect(from)
	if err != nil {
		return nil, usage("%v", err)
	}
	return props, nil
}

// propertyHelp describes the options a document declares (language 9.7.2).
func propertyHelp(b *strings.Builder, declared *property.Set, path string) {
	if declared.Len() == 0 {
		return
	}
	fmt.Fprintf(b, "\nProperties declared by %s\n", path)
	for _, o := range declared.Options() {
		form := visible(o.Form)
		if o.Switch() {
			fmt.Fprintf(b, "  %s[=<boolean>]\n", o.Option)
		} else if form, isList := strings.CutSuffix(form, "..."); isList {
			fmt.Fprintf(b, "  %s <%s>...\n", o.Option, form)
		} else {
			fmt.Fprintf(b, "  %s <%s>\n", o.Option, form)
		}
		if d, ok := o.Definition.(*value.Object); ok {
			if text, ok := d.String("description"); ok {
				fmt.Fprintf(b, "      %s\n", visible(text))
			}
		}
		fmt.Fprintf(b, "      Environment: %s\n", o.Variable)
		if o.Required {
			b.WriteString("      Required\n")
		}
		if o.HasDefault {
			if text, err := value.JSON(o.Default); err == nil {
				fmt.Fprintf(b, "      Default: %s\n", visible(text))
			}
		}
	}
	b.WriteString("  --props <json>\n      Environment: XMD_PROPS\n")
	if names := declared.Unspoken(); len(names) > 0 {
		fmt.Fprintf(b, "      The only way to give: %s\n", visible(strings.Join(names, ", ")))
	}
}
