import { execFileSync } from 'node:child_process'
import { chosenBy, isSoak } from './budget.ts'
import { readDurations } from './durations.ts'
import { rotatingFiles, soakOnlyFiles } from './soak-only.ts'

/** Whether this run records durations, for which it needs every file of `make test`. */
export const isRecording = process.env['TEST_RECORD'] === '1'

/** Whether this run is for daily work: `npm run test:fast`, which leaves slow files out. */
export const isFast = process.env['TEST_FAST'] === '1'

/**
 * Seconds of a file above which a run for daily work leaves it out: as recorded, but on a machine
 * that calibrates in 20 ms, so that a soak on a slow machine leaves out the same files.
 */
export const quick_s_max = 5
const quick_calibration_ms = 20

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
 * Files that this run leaves out: those that only a soak runs, three quarters of the rotating ones,
 * and slow ones in a run for daily work. A file that the command line names is never left out.
 */
export function filesOfOtherRuns(): string[] {
  if (isSoak) return []
  const rotating = Object.keys(rotatingFiles)
  const chosen = new Set(isRecording ? rotating : chosenBy(commitOfRun(), rotating))
  const resting = rotating.filter((file) => !chosen.has(file))
  const others = [...Object.keys(soakOnlyFiles), ...resting, ...(isFast ? slowFiles() : [])]
  const named = namesIn(process.argv.slice(2))
  return others.filter((file) => !named.some((name) => file.includes(name)))
}

function slowFiles(): string[] {
  const { files, calibration_ms } = readDurations()
  const recorded_s_max = quick_s_max * (calibration_ms / quick_calibration_ms)
  return Object.entries(files).flatMap(([file, { test }]) =>
    (test?.seconds ?? 0) > recorded_s_max ? [file] : [],
  )
}

/** The names of files among the arguments of vitest, which match a part of a path. */
function namesIn(args: readonly string[]): string[] {
  return args.filter(
    (arg, at) => !arg.startsWith('-') && arg !== 'run' && args[at - 1] !== '--project',
  )
}
