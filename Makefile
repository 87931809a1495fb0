.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# tool runs a tool of tools/go.mod, which is no part of the workspace.
tool = GOWORK=off go -C tools build -o ../bin/$(notdir $(1)) $(1) && bin/$(notdir $(1))
MODULES = $(shell git ls-files 'go.mod' '*/go.mod' ':!**/testdata/**' ':!examples/broken' | xargs -n 1 dirname)
FUZZTIME ?= 120
# GoReleaser alone takes four minutes of computing to compile, so it is no part of tools/go.mod, nor of .ci/run.
GORELEASER = github.com/goreleaser/goreleaser/v2@v2.16.0
# The Temporal server that its tests need takes seven minutes of computing to compile.
TEMPORAL = github.com/temporalio/cli/cmd/temporal@v1.5.1

.PHONY: help
help: ## Show what there is to make
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the pawl command into bin/
	go build -trimpath -o bin/pawl ./cmd/pawl

.PHONY: test
test: ## Run the tests
	go test work

.PHONY: race
race: ## Run the tests under the race detector
	GORACE=atexit_sleep_ms=20 go test -race work

.PHONY: vet
vet: ## Run go vet
	go vet work

.PHONY: lint
lint: ## Run the linters, pinned in tools/go.mod
	$(call tool,github.com/golangci/golangci-lint/v2/cmd/golangci-lint) run $(patsubst %,./%/...,$(filter-out tools oracle,$(MODULES)))

.PHONY: fuzz
fuzz: ## Run each fuzzer for 30 seconds
	@.ci/fuzz 30 86400

.PHONY: bench
bench: ## Measure the work of docs/performance.md beside its floors, or the ROWS of it
	go run ./internal/bench $(if $(ROWS),-rows '$(ROWS)')

.PHONY: benchstat
benchstat: ## Run the benchmarks of the packages six times, for benchstat, into bench.out
	go test -run '^$$' -bench . -benchmem -count 6 work | tee bench.out
	$(call tool,golang.org/x/perf/cmd/benchstat) bench.out

bin/temporal:
	GOBIN=$(CURDIR)/bin nice go install $(TEMPORAL)

.PHONY: proof
proof: bin/temporal ## Run the long checks: kills at every commit point, and each fuzzer for FUZZTIME seconds
	PAWL_PROOF=1 go test -count 1 -timeout 60m work
	GORACE=atexit_sleep_ms=20 go test -race -short -count 1 -timeout 60m ./cmd/internal/cli ./fix/testfix
	$(MAKE) release-check
	.ci/oracle -count 1
	@.ci/fuzz $(FUZZTIME) 86400

.PHONY: live
live: ## Send one request to each model of the sheet whose provider has a key in the environment, and write into the sheet how it went
	PAWL_LIVE=1 go test -count 1 -timeout 60m ./internal/sheet -v -run '^TestLive$$'

.PHONY: sdks
sdks: ## Raise the providers' SDKs to their newest versions, and print what they have that the adapters and the model sheet do not
	.ci/sdks

.PHONY: release-check
release-check: ## Validate the release's configuration, and build this machine's part of it into dist/
	go run $(GORELEASER) check
	go run $(GORELEASER) build --snapshot --clean --single-target

.PHONY: deploy-check
deploy-check: ## Validate the files of deploy for Compose, Kubernetes, Prometheus and systemd
	cd deploy/testdata/validate && GOWORK=off go test .

.PHONY: generate
generate: ## Write generated files and transcripts again
	go generate work

.PHONY: tidy
tidy: ## Tidy the modules and format the sources
	for dir in $(MODULES); do (cd $$dir && GOWORK=off go mod tidy) || exit 1; done
	gofmt -w $$(git ls-files "*.go" ":!**/testdata/**")

.PHONY: ci
ci: ## Run everything that must hold before a change lands
	.ci/run
