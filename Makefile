# A small front door to CMake and Ninja: `make help` lists what there is.
PREFIX ?= /usr/local
DESTDIR ?=
# Seconds for each fuzz target of `make fuzz`.
FUZZ_SECONDS ?= 60

SOURCES = $(shell git ls-files '*.c' '*.h')
CLANG_FORMAT = $(shell command -v clang-format-14 || echo clang-format)

.PHONY: all needs deps demo test test-long bench fuzz install uninstall format site web-static clean help

all: build/build.ninja
	@cmake --build build --target pebble pebble_shared pebble_static pebble_pages

needs:
	@tools/deps build

build/build.ninja: CMakePresets.json | needs
	@cmake --preset release --log-level=WARNING >/dev/null
	@touch $@

deps:
	@tools/deps

demo: all
	@tools/demo build/pebble

test:
	@tools/test short

test-long:
	@tools/test long

bench: all
	@tools/deps test
	@cmake --build build --target bench
	@tools/bench build/bench/bench $(BENCH)

fuzz:
	@tools/fuzz $(FUZZ_SECONDS)

install: all
	@DESTDIR=$(DESTDIR) cmake --install build --prefix $(PREFIX)
	@sort build/install_manifest.txt >build/installed.txt # ends its last line

# Only what was installed, and then the folders that were ours alone.
uninstall:
	@test -f build/installed.txt || { echo "nothing was installed from build/"; exit 1; }
	@while read -r file; do rm -f "$(DESTDIR)$$file"; done <build/installed.txt
	@sed -n 's|/[Pp]ebble/[^/]*$$||p' build/installed.txt | sort -u | \
	 while read -r dir; do rmdir "$(DESTDIR)$$dir/pebble" "$(DESTDIR)$$dir/Pebble" 2>/dev/null || true; done
	@echo "removed $$(wc -l <build/installed.txt) files"

format:
	@$(CLANG_FORMAT) -i $(SOURCES)

site:
	@tools/site/build

# The page with the core inside, as WebAssembly: a folder for any web host.
web-static:
	@tools/deps wasm
	@tools/web_static build-wasm/web-static

clean:
	@rm -rf build build-debug build-asan build-clang build-tsan build-fuzz build-wasm

help:
	@echo 'make               the command at build/pebble and the library at build/libpebble.{so,a}'
	@echo 'make demo          builds, then plans an example and shows the result'
	@echo 'make test          everything that runs on each push: checks, tests, sanitizers, gcc and clang'
	@echo 'make test-long     more random cases, trainers of other libraries, ThreadSanitizer, fuzzing, large instances'
	@echo 'make bench         measures speed and plan quality (BENCH="verify grid" picks parts; bench/README.md)'
	@echo 'make fuzz          each fuzz target for FUZZ_SECONDS=60'
	@echo 'make install       PREFIX=/usr/local, DESTDIR= ; `make uninstall` takes it away again'
	@echo 'make deps          installs the tools and libraries that are missing (Debian, Ubuntu)'
	@echo 'make format        clang-format on every source'
	@echo 'make site          the documentation as web pages with search, at build/site/html'
	@echo 'make web-static    the page that needs no server, at build-wasm/web-static (docs/page.md)'
	@echo 'make clean         removes the build directories'
	@echo 'Other builds: cmake --preset debug|asan|clang|tsan|fuzz, then cmake --build --preset NAME (docs/building.md)'
