# A thin door: meson builds everything.
BUILD ?= build

.PHONY: all deps demo check bench install clean

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@tools/install-deps.sh build
	@meson setup $(BUILD)

# Records a small program together with the kernel and shows the trace.
demo: all
	@tools/demo.sh $(BUILD)

# All tests, in all variants of the build.
check:
	@tools/install-deps.sh build test
	@tools/check.py

# Figures beside those of the peers; writes docs/benchmarks.md.
bench: all
	@tools/install-deps.sh build test bench
	@tests/bench/run.py $(BUILD)

install: all
	@meson install -C $(BUILD)

clean:
	rm -rf $(BUILD) build-*
