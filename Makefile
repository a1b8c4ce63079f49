# A thin door: meson builds everything.
BUILD ?= build

.PHONY: all demo check check-all bench install clean

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@tools/install-deps.sh build
	@meson setup $(BUILD)

# Records a small program together with the kernel and shows the trace.
demo: all
	@tools/demo.sh $(BUILD)

# One build that is made fast, and the tests that take seconds: at most three minutes.
check:
	@tools/install-deps.sh build check
	@tools/check.py quick

# All tests, in all variants of the build, by both compilers: at most fifteen minutes.
check-all:
	@tools/install-deps.sh build check test
	@tools/check.py

# Figures beside those of the peers; writes docs/benchmarks.md.  A build that was configured
# before the peers were installed does without them: it is configured again.
bench:
	@tools/install-deps.sh build check test bench
	@if [ -e $(BUILD)/build.ninja ]; then meson setup --reconfigure $(BUILD) >/dev/null; \
	else meson setup $(BUILD); fi
	@ninja -C $(BUILD)
	@tests/bench/run.py $(BUILD)

install: all
	@meson install -C $(BUILD)

clean:
	rm -rf $(BUILD) build-*
