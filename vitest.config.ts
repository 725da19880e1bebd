import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { closingLine, slowestFiles } from './test/support/reporters.ts'

/** What `test/support/build-tools.ts` builds meanwhile is needed from the contract tests on. */
const needsTools = { globalSetup: ['test/support/build-tools.ts'] }

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
    testTimeout: 120_000,
    hookTimeout: 300_000,
    reporters: ['default', slowestFiles, closingLine],
    projects: [
      project('api', ['test/api/*.test.ts'], { isolate: false }),
      project('contract', ['test/contract/*.test.ts'], { isolate: false, ...needsTools }),
      // They wait for other processes: one more of them fills the time.
      project('e2e', ['test/e2e/*.test.ts', 'test/tidy.test.ts'], {
        ...needsTools,
        maxWorkers: 3,
        sequence: { groupOrder: 1 },
      }),
      project('unit', ['src/**/*.test.ts', 'test/corpus/*.test.ts'], { isolate: false }),
    ],
  },
})

function project(name: string, include: string[], more: TestProjectInlineConfiguration['test']) {
  return { extends: true as const, test: { name, include, maxWorkers: 2, ...more } }
}
