# One command each; a fresh clone needs nothing before them.
NODE := node_modules/.bin/node
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

.PHONY: run console test test-fast test-changed soak check generate bench verdicts image-check chart release-chart sbom scan

# Starts everything on this machine: PostgreSQL, ClickHouse, the queue and the service.
# DEMO=0 leaves the sample agents out.
ifeq ($(DEMO),0)
run: export LOOPTRACE_DEMO := false
endif
run: node_modules/.installed console
	@MALLOC_MMAP_THRESHOLD_=131072 exec $(NODE) src/main.ts all

# Builds the console, if its sources are newer than the last build.
CONSOLE := console/dist/index.html
console: $(CONSOLE)
$(CONSOLE): node_modules/.installed $(shell find console -type f -not -name '*.gen.d.ts' -not -path 'console/dist/*' -not -path '*/node_modules/*')
	@npm run --silent build --workspace console

VITEST := $(NODE) node_modules/vitest/vitest.mjs

# All checks, and each behaviour once: what CI runs.
test: check console
	$(VITEST) run

# Unit and API tests of quick files only: for daily work.
test-fast: node_modules/.installed
	npm run --silent test:fast

# Tests that import a file which differs from BASE, in any number of steps. Processes that a test
# starts are no imports: what only e2e tests reach needs `make test`.
BASE := HEAD
test-changed: node_modules/.installed
	$(VITEST) run --changed $(BASE)

# Everything: the tests of `make test` and all scenarios, then the files with whole matrices, long
# kill storms and large fuzz budgets again; records the durations of both. For nights and releases.
# ROOM=incidents runs the second part for the files with that word in their path.
soak: check console
ifdef ROOM
	TEST_SOAK=1 $(VITEST) run $(ROOM)
else
	@failed=0; \
	TEST_RECORD=1 $(VITEST) run || failed=1; \
	TEST_SOAK=1 TEST_RECORD=1 $(VITEST) run $$($(NODE) scripts/soak-files.ts) || failed=1; \
	$(NODE) scripts/generate.ts && exit $$failed
endif

# Types, lint, arrows, unused code, fresh generated files, plain English, the lock file, licences,
# secrets, bills of materials, known vulnerabilities: two at a time. Without an answer of the
# registry, the audit of vulnerabilities says so and passes.
checks := types arrows lint unused fresh english lock licences secrets sbom audit
.PHONY: $(checks:%=check-%)
check: node_modules/.installed
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target $(checks:%=check-%)

$(checks:%=check-%): check-%:
	@npm run --silent check:$*

# Writes what is generated: docs/reference, crds, the chart's files, the registry of kinds.
generate: node_modules/.installed
	$(NODE) scripts/generate.ts

# Measures against the floor; writes docs/reference/performance.md.
bench: node_modules/.installed
	$(NODE) bench/main.ts

# Runs all detectors over the labelled runs and the recordings of stacks; writes docs/reference/verdicts.md
# and docs/reference/stacks.md.
verdicts: node_modules/.installed
	$(NODE) scripts/verdicts.ts

# Runs the steps of the Dockerfile without a container engine, measures and starts what they leave.
# TARGET=embedded does the same for the image with the embedded servers.
image-check: node_modules/.installed
	$(NODE) scripts/image-check.ts $(TARGET)

# Writes the bill of materials of the embedded image: CycloneDX, by npm. Each image has its own, in
# /app/sbom.cdx.json.
sbom: node_modules/.installed
	@mkdir -p dist
	$(NODE) scripts/sbom.ts dist/looptrace.cdx.json

# Looks for secrets in the history of the branch (gitleaks), and for weaknesses of the chart and of
# the Dockerfile (checkov). Needs Go and Python; builds both tools once.
scan: node_modules/.installed
	$(NODE) scripts/scan.ts

# Packages the chart into CHART_FOLDER, and pushes it if CHART_REGISTRY is set (oci://registry.example.com/charts).
# CHART_PUSH_FLAGS are flags of `helm push`, such as --ca-file. Needs helm.
CHART_FOLDER := dist
chart_version = $(shell sed -n 's/^version: //p' charts/looptrace/Chart.yaml)
chart:
	helm package charts/looptrace --destination '$(CHART_FOLDER)'
	$(if $(CHART_REGISTRY),helm push '$(CHART_FOLDER)/looptrace-$(chart_version).tgz' '$(CHART_REGISTRY)' $(CHART_PUSH_FLAGS))

# Releases the chart with provenance and signatures; scripts/release-chart.ts lists the variables.
# Needs helm and gpg, and cosign if COSIGN_KEY is set.
release-chart: node_modules/.installed
	@$(NODE) scripts/release-chart.ts

# The npm package `node` brings Node 24, whatever the machine has; npm runs its install script.
node_modules/.installed: package-lock.json
	@echo 'Installing packages, with PostgreSQL and ClickHouse: 1.3 GB on disk, once for each version.'
	@npm ci --no-audit --no-fund --loglevel=error
	@case "$$($(NODE) -v 2>/dev/null)" in v24*) ;; *) \
	  echo "node_modules/.bin/node is not Node 24: run 'npm rebuild node', then make again" >&2; exit 1;; esac
	@touch $@
