import { defineConfig } from 'vitest/config'
import { closingLine, slowestFiles } from './test/support/reporters.ts'

/** Files that share nothing but imports and the shared servers run in one worker, one by one. */
const shared = { isolate: false, sequence: { groupOrder: 0 } }

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 3,
    experimental: { viteModuleRunner: false },
    testTimeout: 120_000,
    hookTimeout: 300_000,
    reporters: ['default', slowestFiles, closingLine],
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['src/**/*.test.ts', 'test/corpus/*.test.ts'], ...shared },
      },
      { extends: true, test: { name: 'api', include: ['test/api/*.test.ts'], ...shared } },
      {
        extends: true,
        test: { name: 'contract', include: ['test/contract/*.test.ts'], ...shared },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/*.test.ts', 'test/tidy.test.ts'],
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
