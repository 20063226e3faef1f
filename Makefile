# make run     sets everything up and opens Atoll
# make test    checks the code: needs Go and Node, no model
# make build   leaves atoll and atoll-desktop in bin/
# make check   everything that CI does (see .ci/run)
# make help    lists the rest

VERSION := 0.1.0-dev
CACHE   := $(or $(ATOLL_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/atoll)
LDFLAGS := -w -s -X main.version=$(VERSION)
# Tests run with the race detector where there is a C compiler for it.
RACE    := $(shell command -v cc >/dev/null 2>&1 && echo -race)
PAGE    := frontend/dist/index.html
PAGESRC := $(shell find frontend/src frontend/index.html frontend/package-lock.json frontend/vite.config.ts 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help run build atoll desktop engine page setup test lint vet test-go test-page check \
        test-escape test-crash test-model test-browser test-window windows bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: atoll engine setup ## set up, then open the window, or serve the page where there is no display
	@sh build/run.sh

build: atoll desktop engine ## build both programs and fetch the engine

atoll: $(PAGE) ## build the host and command line, without cgo
	CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)" -o bin/atoll .

desktop: $(PAGE) ## build the window (needs the GTK and WebKitGTK headers)
	@sh build/need-desktop.sh
	go build -tags desktop,production,webkit2_41 -trimpath -ldflags "$(LDFLAGS)" -o bin/atoll-desktop .

engine: ## fetch the llama.cpp libraries that fit, by hash
	@sh build/fetch-engine.sh bin/engine

page: $(PAGE) ## build the page

$(PAGE): frontend/node_modules/.package-lock.json $(PAGESRC)
	cd frontend && npm run --silent build
	@touch frontend/dist/.keep $(PAGE)

frontend/node_modules/.package-lock.json: frontend/package-lock.json
	cd frontend && npm ci --no-fund --no-audit --loglevel=error
	@touch $@

setup: atoll ## fetch the Python libraries and the starter model
	bin/atoll setup

test: lint test-go test-page ## check the code: linters, unit tests of Go and of the page

lint: vet ## formatting, vet on three systems, staticcheck
	@test -z "$$(gofmt -l app frontend/*.go llm sandbox storage examples build main.go)" || { gofmt -l app frontend/*.go llm sandbox storage examples build main.go; echo "run gofmt -w on these"; exit 1; }
	go tool -modfile=build/tools/go.mod staticcheck ./...

vet:
	go vet ./...
	GOOS=windows CGO_ENABLED=0 go vet ./...
	GOOS=darwin CGO_ENABLED=0 go vet ./...

test-go: ## unit tests of the Go packages
	go test $(RACE) -timeout 10m ./...

test-page: frontend/node_modules/.package-lock.json ## unit tests and type check of the page
	cd frontend && npm run --silent check && npm run --silent lint && npm test --silent

windows: $(PAGE) ## cross-build both programs for Windows
	GOOS=windows CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)" -o bin/windows/atoll.exe .
	GOOS=windows CGO_ENABLED=0 go build -tags desktop,production -trimpath -ldflags "$(LDFLAGS) -H windowsgui" -o bin/windows/atoll-desktop.exe .

test-escape: ## hostile programs against the sandbox; from root, as an ordinary user too
	sh build/test-escape.sh
	go test -count=1 -run Memory ./sandbox/kernel

test-crash: ## kill -9, full disks and damaged files against the store
	go build ./storage/...
	ulimit -v 12000000; ATOLL_CRASH=1 go test -count=1 -timeout 15m ./storage/... # KiB; a runaway ends with its stack

test-model: atoll engine ## end to end with real models, offline (minutes)
	sh build/test-model.sh

test-browser: atoll engine ## the page in a real browser
	sh build/test-browser.sh

test-window: build ## the window under Xvfb
	sh build/test-window.sh

check: test windows test-escape test-crash test-model test-browser test-window ## all of it

bench: ## benchmarks of the Go packages
	go test -run '^$$' -bench . -benchtime 1s ./sandbox/... ./storage/... ./llm/...

clean: ## remove what was built; downloads stay in the cache
	rm -rf bin frontend/node_modules
	find frontend/dist -mindepth 1 ! -name .keep -delete
