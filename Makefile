# "make help" lists the tasks. Each is one command that can also be typed. Only what is released is built without cgo:
# everything else is compiled as "go run" and "go test" do, so that all of it shares the results.

.PHONY: help build pgo image dist test test-fast race full fuzz docs site golden bench lint platforms ci

help: ## list the tasks
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12

build: ## build aiperf into this folder, compiled for the profile of its loads (compiles all packages once more)
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -pgo cmd/aiperf/release.pgo -o aiperf ./cmd/aiperf

pgo: ## measure that profile anew
	go run ./bench -only pgo

image: ## write the OCI image for amd64 and arm64 into ./image and ./image.tar, and read it back
	go -C tools run ./image -out "$(CURDIR)/image"
	go -C tools run ./image -out "$(CURDIR)/image" -check

dist: ## write all files of a release into ./dist; PLATFORMS=linux/amd64 only those of some platforms
	go -C tools run ./dist -out "$(CURDIR)/dist" -platforms "$(PLATFORMS)"

test: ## run all tests, some minutes (docs/benchmarks.md)
	go test ./...

test-fast: ## run the short tests of the packages that differ from origin/main, and of those that import them
	.ci/fast

race: ## run the race detector (needs a C compiler)
	.ci/race

full: ## run the tests with all their seeds
	.ci/full

fuzz: ## fuzz every target; FUZZ=N inputs each
	.ci/fuzz

docs: ## write the generated pages under docs/ anew
	.ci/golden docs

site: ## build the documentation as a static site into ./site (needs Python and PyPI)
	tools/site/build

golden: ## write golden files and generated pages anew
	.ci/golden

bench: ## measure the whole program against the mock server; results for docs/benchmarks.md
	go run ./bench

lint: ## gofmt, go vet, staticcheck
	.ci/format
	.ci/lint

platforms: ## check that everything compiles for Linux, macOS and Windows
	.ci/platforms

ci: ## everything that must pass before a change lands
	.ci/run
