package sqlite

// fault is told of every place where a process can be killed, which is what tests do
// there. Nothing else sets it.
var fault func(transaction, place string)

func reached(transaction, place string) {
	if fault != nil {
		fault(transaction, place)
	}
}
