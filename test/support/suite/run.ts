import { execFileSync } from 'node:child_process'
import { isSoak } from './budget.ts'
import { soakOnlyFiles } from './soak-only.ts'

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

/** Patterns of files that this run leaves out: those that only a soak runs. */
export function filesOfOtherRuns(): string[] {
  return isSoak ? [] : Object.keys(soakOnlyFiles)
}
