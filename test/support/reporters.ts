import type { Reporter, TestModule } from 'vitest/node'

const slowestShown = 20

/** Prints the slowest test files of the run with their seconds, imports and hooks included. */
export const slowestFiles: Reporter = {
  onTestRunEnd(modules) {
    if (modules.length <= slowestShown) return
    const slowest = modules
      .map((module) => ({ path: module.relativeModuleId, seconds: secondsOf(module) }))
      .toSorted((a, b) => b.seconds - a.seconds)
      .slice(0, slowestShown)
    const lines = slowest.map(({ path, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${path}`)
    process.stdout.write(`\nThe ${slowestShown} slowest files:\n${lines.join('\n')}\n`)
  },
}

/** Ends the run with one plain line that scripts can parse. */
export const closingLine: Reporter = {
  onTestRunEnd(modules) {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const count = (state: string) => tests.filter((test) => test.result().state === state).length
    process.stdout.write(`\n${count('passed')} passed, ${count('failed')} failed\n`)
  },
}

function secondsOf(module: TestModule): number {
  const { prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic()
  return (prepareDuration + collectDuration + setupDuration + duration) / 1_000
}
