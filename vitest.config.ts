import { defineConfig } from 'vitest/config'
import type { Reporter } from 'vitest/node'

/** Ends the run with one plain line that any machine can read. */
const closingLine: Reporter = {
  onTestRunEnd(modules) {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const count = (state: string) => tests.filter((test) => test.result().state === state).length
    process.stdout.write(`\n${count('passed')} passed, ${count('failed')} failed\n`)
  },
}

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 300_000,
    reporters: ['default', closingLine],
  },
})
