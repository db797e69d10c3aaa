package schema

import (
	"strconv"
	"strings"

	"github.com/executable-markdown/xmd/internal/value"
)

// Declares returns the JSON Pointer of a property, definition or dependency called
// name, empty when the schema declares none. It looks only where schemas stand: an
// example or an enum may hold any JSON.
func (s *Schema) Declares(name string) string { return placeOf(s.definition, name, "") }

func placeOf(definition any, wanted, at string) string {
	o, _ := definition.(*value.Object)
	for keyword, argument := range o.All() {
		place := at + "/" + keyword
		switch keyword {
		case "properties", "patternProperties", "definitions", "dependencies":
			table, _ := argument.(*value.Object)
			for name, sub := range table.All() {
				member := place + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
				if name == wanted && keyword != "patternProperties" {
					return member
				}
				if found := placeOf(sub, wanted, member); found != "" {
					return found
				}
			}
		case "allOf", "anyOf", "oneOf", "items", "additionalItems", "additionalProperties",
			"contains", "propertyNames", "not", "if", "then", "else":
			list, isList := argument.([]any)
			if !isList {
				list = []any{argument}
			}
			for i, sub := range list {
				member := place
				if isList {
					member += "/" + strconv.Itoa(i)
				}
				if found := placeOf(sub, wanted, member); found != "" {
					return found
				}
			}
		}
	}
	return ""
}
