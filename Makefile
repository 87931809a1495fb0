.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

TOOL := go tool -modfile=tools/go.mod
FUZZTIME ?= 120

.PHONY: help
help: ## Show what there is to make
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the pawl command into bin/
	go build -trimpath -o bin/pawl ./cmd/pawl

.PHONY: test
test: ## Run the tests
	go test ./...

.PHONY: race
race: ## Run the tests under the race detector
	GORACE=atexit_sleep_ms=20 go test -race ./...

.PHONY: vet
vet: ## Run go vet
	go vet ./...

.PHONY: lint
lint: ## Run the linters, pinned in tools/go.mod
	$(TOOL) golangci-lint run

.PHONY: fuzz
fuzz: ## Run each fuzzer for 30 seconds
	@.ci/fuzz 30 86400

.PHONY: bench
bench: ## Measure the work of docs/performance.md beside its floors, or the ROWS of it
	go run ./internal/bench $(if $(ROWS),-rows '$(ROWS)')

.PHONY: benchstat
benchstat: ## Run the benchmarks of the packages six times, for benchstat, into bench.out
	go test -run '^$$' -bench . -benchmem -count 6 ./... | tee bench.out
	$(TOOL) benchstat bench.out

.PHONY: proof
proof: ## Run the long checks: kills at every commit point, mending, and each fuzzer for FUZZTIME seconds
	PAWL_PROOF=1 go test -count 1 -timeout 60m $$(go list ./... | grep -v internal/cli/faults)
	$(MAKE) faults
	@.ci/fuzz $(FUZZTIME) 86400

.PHONY: faults
faults: ## Mend the modules of testdata/faults, or MODULE alone, and show how it went
	PAWL_PROOF=1 go test -count 1 -timeout 90m ./internal/cli/faults -v $(if $(MODULE),-run '^TestFix$$/^$(MODULE)$$')

.PHONY: generate
generate: ## Write generated files and transcripts again
	go generate ./...

.PHONY: tidy
tidy: ## Tidy both modules and format the sources
	go mod tidy
	cd tools && go mod tidy
	gofmt -w $$(git ls-files "*.go" ":!**/testdata/**")

.PHONY: ci
ci: ## Run everything that must hold before a change lands
	.ci/run
