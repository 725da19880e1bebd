import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { compileCache } from './test/support/child-env.ts'
import { LongestFirst } from './test/support/suite/longest-first.ts'
import {
  closingLine,
  durations,
  failures,
  secondAttempts,
  skippedTests,
  slowestFiles,
} from './test/support/suite/reporters.ts'
import { commitOfRun, filesOfOtherRuns } from './test/support/suite/run.ts'

/**
 * Tests that need tools in Go and Python, which `test/support/build-tools.ts` builds while the
 * others run.
 */
const afterwards = {
  globalSetup: ['test/support/build-tools.ts'],
  sequence: { groupOrder: 1 },
}

/**
 * Tests of several processes have time-outs that a busy machine can miss. Such a test gets a second
 * attempt, and the end of the run names it, with the error of the first.
 */
const secondAttempt = { retry: 1 }

/** Most tests wait for servers and processes, so three workers keep two cores busy. */
const maxWorkers = 3

/** Files of a project share workers: modules are loaded once for each, and servers too. */
export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    isolate: false,
    // Node runs the sources as they are, in tests too.
    experimental: { viteModuleRunner: false },
    // Processes that tests start find compiled modules there.
    env: { NODE_COMPILE_CACHE: compileCache, TEST_COMMIT: commitOfRun() },
    exclude: filesOfOtherRuns(),
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    hookTimeout: 300_000,
    reporters: [
      'default',
      ...[slowestFiles, secondAttempts, skippedTests, durations, failures, closingLine],
    ],
    projects: [
      project('api', ['test/api/*.test.ts']),
      project('contract', ['test/contract/*.test.ts'], { ...afterwards, ...secondAttempt }),
      project('e2e', ['test/e2e/*.test.ts'], { ...afterwards, ...secondAttempt }),
      project('unit', [
        'src/**/*.test.ts',
        'console/src/**/*.test.ts',
        'test/*.test.ts',
        'test/corpus/*.test.ts',
        'test/support/**/*.test.ts',
      ]),
    ],
  },
})

function project(
  name: string,
  include: string[],
  more: TestProjectInlineConfiguration['test'] = {},
) {
  return { extends: true as const, test: { name, include, maxWorkers, ...more } }
}
