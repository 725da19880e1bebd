import { createHash } from 'node:crypto'
import type { TestOptions } from 'vitest'

/**
 * How much of the suite runs. `make test` shows each behaviour once; `make soak`, which sets
 * TEST_SOAK, runs the whole matrices, the long kill storms and the large fuzz budgets. The same
 * files serve both, and `docs/internals/tests.md` lists what only a soak runs.
 */
export const isSoak = process.env['TEST_SOAK'] === '1'

/** A number of kills, clients, rows or seconds: a small one for `make test`, all of it in a soak. */
export function budget({ test, soak }: { test: number; soak: number }): number {
  return isSoak ? soak : test
}

/** Generated inputs of a property test: `runs` in a soak, a quarter of them in `make test`. */
export function fuzzRuns(runs: number): number {
  return isSoak ? runs : Math.ceil(runs / share)
}

/** Options of a test or a group that only a soak runs. `reason` is shown in the list of tests. */
export function soakOnly(_reason: string, more: TestOptions = {}): TestOptions {
  return { ...more, skip: !isSoak }
}

/** Whether a part of a test runs that takes too long for `make test`, for the given reason. */
export function inSoak(_reason: string): boolean {
  return isSoak
}

/**
 * All cases of a matrix in a soak; in `make test` a quarter, in their order, chosen by the hash of
 * the commit. So each commit checks other cases, and the same commit always the same ones.
 */
export function quarterOf<T>(matrix: readonly T[]): T[] {
  return isSoak ? [...matrix] : chosenBy(process.env['TEST_COMMIT'] ?? '', matrix)
}

const share = 4

/** Chooses at least one case by a seed, evenly over many seeds. */
export function chosenBy<T>(seed: string, matrix: readonly T[]): T[] {
  const rankOf = (at: number) => createHash('sha256').update(`${seed} ${at}`).digest('hex')
  const ranked = [...matrix.keys()].toSorted((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1))
  const chosen = new Set(ranked.slice(0, Math.ceil(matrix.length / share)))
  return matrix.filter((_one, at) => chosen.has(at))
}
