import { execFileSync } from 'node:child_process'
import { chosenBy, isSoak } from './budget.ts'
import { rotatingFiles, soakOnlyFiles } from './soak-only.ts'

/** Whether this run records durations, for which it needs every file of `make test`. */
export const isRecording = process.env['TEST_RECORD'] === '1'

/** The commit whose hash chooses the cases of a matrix; TEST_COMMIT repeats another one. */
export function commitOfRun(): string {
  const given = process.env['TEST_COMMIT']
  if (given !== undefined) return given
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return 'without git'
  }
}

/**
 * Files that this run leaves out: those that only a soak runs, and three quarters of the rotating
 * ones. A file that the command line names is never left out.
 */
export function filesOfOtherRuns(): string[] {
  if (isSoak) return []
  const rotating = Object.keys(rotatingFiles)
  const chosen = new Set(isRecording ? rotating : chosenBy(commitOfRun(), rotating))
  const others = [...Object.keys(soakOnlyFiles), ...rotating.filter((file) => !chosen.has(file))]
  const named = namesIn(process.argv.slice(2))
  return others.filter((file) => !named.some((name) => file.includes(name)))
}

/** The names of files among the arguments of vitest, which match a part of a path. */
function namesIn(args: readonly string[]): string[] {
  return args.filter(
    (arg, at) => !arg.startsWith('-') && arg !== 'run' && args[at - 1] !== '--project',
  )
}
