import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { compileCache } from './test/support/child-env.ts'
import { LongestFirst } from './test/support/longest-first.ts'
import { closingLine, slowestFiles } from './test/support/reporters.ts'

/**
 * Tests that wait for other processes: a third worker fills the time. They run after the others;
 * meanwhile `test/support/build-tools.ts` builds the tools that they need.
 */
const afterwards = {
  globalSetup: ['test/support/build-tools.ts'],
  maxWorkers: 3,
  sequence: { groupOrder: 1 },
}

/**
 * Files of projects without isolation share a worker, its
 * modules and its servers; an e2e file has a worker of its own.
 */
export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // Node runs the sources as they are, in tests too.
    experimental: { viteModuleRunner: false },
    // Processes that tests start find compiled modules there.
    env: { NODE_COMPILE_CACHE: compileCache },
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    hookTimeout: 300_000,
    reporters: ['default', slowestFiles, closingLine],
    projects: [
      project('api', ['test/api/*.test.ts'], { isolate: false, maxWorkers: 3 }),
      project('contract', ['test/contract/*.test.ts'], { isolate: false, ...afterwards }),
      project('e2e', ['test/e2e/*.test.ts', 'test/tidy.test.ts'], afterwards),
      project('unit', ['src/**/*.test.ts', 'test/corpus/*.test.ts', 'test/openapi.test.ts'], {
        isolate: false,
      }),
    ],
  },
})

function project(name: string, include: string[], more: TestProjectInlineConfiguration['test']) {
  return { extends: true as const, test: { name, include, maxWorkers: 2, ...more } }
}
