import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node'
import { isSoak } from './budget.ts'
import { calibrate } from './calibrate.ts'
import { compareDurations, readDurations, type Suite, writeDurations } from './durations.ts'
import { filesOfOtherRuns, isFast, isRecording, quick_s_max } from './run.ts'

const slowestShown = 20
const grownShown = 10
/** The sum of a run's seconds may be this share over the recorded sum. */
const growth_max = 0.1

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

let calibration_ms = 0

/**
 * Compares the run with the recorded durations: names the files that grew most, and fails a run of
 * the whole suite whose sum grew by more than a tenth. With TEST_RECORD=1 it records them instead.
 */
export const durations: Reporter = {
  onInit() {
    calibration_ms = calibrate()
  },
  onTestRunEnd(modules, _errors, reason) {
    if (isRecording && reason !== 'interrupted') record(modules.filter(isTypical))
    if (!isRecording && reason === 'passed') compare(modules)
  },
}

const suite: Suite = isSoak ? 'soak' : 'test'

function compare(modules: readonly TestModule[]): void {
  const { files, calibration_ms: recorded_ms } = readDurations()
  const now = new Map(modules.map((module) => [fileOf(module), secondsOf(module)]))
  const ofSuite = Object.entries(files).map(([file, ran]) => [file, ran[suite]?.seconds] as const)
  const recorded = new Map(ofSuite.flatMap(([file, s]) => (s === undefined ? [] : [[file, s]])))
  for (const file of filesOfOtherRuns()) recorded.delete(file)
  if (![...recorded.keys()].every((file) => now.has(file))) return
  // A machine that became slower during the run counts as slow.
  const slowness = Math.max(calibration_ms, calibrate()) / recorded_ms
  const { scale, recorded_s, now_s, grown } = compareDurations(now, recorded, slowness)
  const lines = grown.slice(0, grownShown).map(({ file, recorded_s: before_s, now_s: after_s }) => {
    return `${before_s.toFixed(1).padStart(7)} → ${after_s.toFixed(1).padStart(5)} s  ${file}`
  })
  const sums = `${now_s.toFixed(0)} s of files, ${recorded_s.toFixed(0)} s recorded`
  print(`Files that grew most (${sums}; this machine × ${scale.toFixed(2)})`, lines)
  if (now_s <= recorded_s * (1 + growth_max)) return
  process.stdout.write(
    `\nFailed: the suite grew by more than ${growth_max * 100} %. Make the files above faster, ` +
      'or record new durations with `make soak` and say why in the commit.\n',
  )
  process.exitCode = 1
}

/** A file that failed, or whose test needed a second attempt, took an untypical time. */
function isTypical(module: TestModule): boolean {
  return module.ok() && !testsOf([module]).some((test) => test.diagnostic()?.flaky === true)
}

/** Replaces the recorded seconds of files; a deleted file leaves the record. */
function record(modules: readonly TestModule[]): void {
  const { files } = readDurations()
  for (const module of modules) {
    const file = fileOf(module)
    const tests = testsOf([module]).filter((test) => test.result().state === 'passed').length
    const ran = { seconds: Math.round(secondsOf(module) * 10) / 10, tests }
    files[file] = { ...files[file], [suite]: ran }
  }
  const present = Object.entries(files).filter(([file]) => existsSync(file))
  writeDurations({ calibration_ms, files: Object.fromEntries(present) })
}

const fileOf = ({ moduleId, project }: TestModule): string =>
  relative(project.vitest.config.root, moduleId)

/** Names the tests that needed a second attempt, with what the first one said. */
export const secondAttempts: Reporter = {
  onTestRunEnd(modules) {
    const repeated = testsOf(modules).filter((test) => test.diagnostic()?.flaky === true)
    print('Passed at the second attempt only', repeated.map(describe))
  },
}

/**
 * Says why tests were skipped, and what to do, for those that give a reason; most others are
 * those of a soak.
 */
export const skippedTests: Reporter = {
  onTestRunEnd(modules) {
    const skipped = testsOf(modules).flatMap((test) => {
      const result = test.result()
      if (result.state !== 'skipped') return []
      const { note } = result
      return [note === undefined ? undefined : `${test.module.relativeModuleId}: ${note}`]
    })
    const counts = [...Map.groupBy(skipped, (reason) => reason)]
    const lines = counts.map(([reason, same]) =>
      reason === undefined
        ? `${same.length} without a reason here; docs/internals/tests.md lists those of a soak`
        : `${same.length} of ${reason}`,
    )
    const slow = `files that take longer than ${quick_s_max} s, which make test runs`
    print('Skipped', isFast ? [...lines, slow] : lines)
  },
}

/**
 * Names the failed tests and hooks once more, after the slowest files, and the errors that no test
 * waited for, which fail a run too: a reader of the last lines of a log sees what failed.
 */
export const failures: Reporter = {
  onTestRunEnd(modules, errors) {
    const failed = testsOf(modules).filter((test) => test.result().state === 'failed')
    const hooks = modules.flatMap((module) => [module, ...module.children.allSuites()])
    const broken = hooks.filter((part) => part.errors().length > 0)
    print('Failed', [...failed, ...broken].map(describe))
    const unawaited = errors.map(({ message, stacks }) => {
      return `${stacks?.[0]?.file ?? '(no file)'}\n    ${message.slice(0, shownOfError)}`
    })
    print('Errors that no test waited for', unawaited)
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
