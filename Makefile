# make run    build xmd, run the example documents, and have one written, approved and run
# make test   the whole suite
# make check  formatting, vet, staticcheck, the suite under the race detector
# make bench  benchmarks and start-up cost; they report, they do not gate
# make fuzz   every fuzz target for FUZZTIME
# make defects  put every deliberate defect in place, show which rows it reddens
# make differential  100,000 generated programs through three evaluators
# make oracle  the same programs through wasmtime; needs a C compiler
# make interop  the tests with programs nobody here wrote, all of them; needs node and 900 MB
# make build  the release binary in bin/

GO       ?= go
FUZZTIME ?= 60s
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS  := -s -w -X main.version=$(VERSION)

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: run test check bench fuzz defects differential oracle interop build

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/xmd ./cmd/xmd

run: build
	@cd examples && ../bin/xmd run tour.md --props-name Ada
	@cd examples && ../bin/xmd run evaluate.md --profile observer.yaml
	@echo
	@GO='$(GO)' examples/prompt/demo.sh

test:
	$(GO) test ./...
	@$(GO) test -count=1 -v -run '^TestConformance$$' ./specs | grep '^conformance:'

check:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'run gofmt -w on these files'; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) test -race -short ./...

bench: build
	$(GO) test -run '^$$' -bench . -benchtime 200ms ./...
	@$(GO) run ./internal/measure
	@$(GO) run ./internal/startup -runs 60 bin/xmd

defects:
	$(GO) run ./internal/defects

CASES ?= 100000

differential:
	$(GO) test ./internal/differential -run '^TestA13_' -timeout 2h -v -args -cases=$(CASES)

oracle:
	cd oracle && CGO_ENABLED=1 $(GO) vet -tags wasmtime ./... && CGO_ENABLED=1 $(GO) test -tags wasmtime -timeout 30m ./...

MODULES ?= $(or $(TMPDIR),/tmp)/xmd-interop

interop:
	interop/install '$(MODULES)' full
	XMD_INTEROP=full XMD_INTEROP_MODULES='$(MODULES)' $(GO) test ./interop -count=1 -v -timeout 30m

fuzz:
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "== $$p $$f"; \
	    $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$p || exit 1; \
	  done; \
	done
