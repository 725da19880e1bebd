import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node'

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

/** Names the tests that needed a second attempt, with what the first one said. */
export const secondAttempts: Reporter = {
  onTestRunEnd(modules) {
    const repeated = testsOf(modules).filter((test) => test.diagnostic()?.flaky === true)
    print('Passed at the second attempt only', repeated.map(describe))
  },
}

/** Says why tests were skipped, and what to do, for those that give a reason. */
export const skippedTests: Reporter = {
  onTestRunEnd(modules) {
    const reasons = testsOf(modules).flatMap((test) => {
      const result = test.result()
      return result.state === 'skipped' && result.note !== undefined
        ? [`${test.module.relativeModuleId}: ${result.note}`]
        : []
    })
    const counts = [...Map.groupBy(reasons, (reason) => reason)]
    const lines = counts.map(([reason, same]) => `${same.length} of ${reason}`)
    print('Skipped', lines)
  },
}

/**
 * Names the failed tests and hooks once more, after the slowest files: a reader
 * of the last lines of a log sees what failed.
 */
export const failures: Reporter = {
  onTestRunEnd(modules) {
    const failed = testsOf(modules).filter((test) => test.result().state === 'failed')
    const hooks = modules.flatMap((module) => [module, ...module.children.allSuites()])
    const broken = hooks.filter((part) => part.errors().length > 0)
    print('Failed', [...failed, ...broken].map(describe))
  },
}

/** Ends the run with one plain line that scripts can parse. */
export const closingLine: Reporter = {
  onTestRunEnd(modules) {
    const tests = testsOf(modules)
    const count = (state: string) => tests.filter((test) => test.result().state === state).length
    process.stdout.write(`\n${count('passed')} passed, ${count('failed')} failed\n`)
  },
}

const shownOfError = 300

function testsOf(modules: readonly TestModule[]): TestCase[] {
  return modules.flatMap((module) => [...module.children.allTests()])
}

function describe(part: TestCase | TestSuite | TestModule): string {
  const errors = part.type === 'test' ? (part.result().errors ?? []) : part.errors()
  const file = part.type === 'module' ? part.relativeModuleId : part.module.relativeModuleId
  const name = part.type === 'module' ? '(file)' : part.fullName
  const first = errors[0]?.message.slice(0, shownOfError) ?? 'no error'
  return `${file} > ${name}\n    ${first.replaceAll('\n', '\n    ')}`
}

function print(title: string, lines: readonly string[]) {
  if (lines.length > 0) process.stdout.write(`\n${title}:\n  ${lines.join('\n  ')}\n`)
}

function secondsOf(module: TestModule): number {
  const { prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic()
  return (prepareDuration + collectDuration + setupDuration + duration) / 1_000
}
