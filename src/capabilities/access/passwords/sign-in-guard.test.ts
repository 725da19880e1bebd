import { expect, test } from 'vitest'
import { Problem } from '../../../kernel/problem.ts'
import { createSignInGuard } from './sign-in-guard.ts'

function guardOf(more: { accounts_max?: number } = {}) {
  const world = { now_ms: 0 }
  const clock = { now_ms: () => world.now_ms }
  const guard = createSignInGuard({ clock, attempts_free: 3, wait_ms_max: 4_000, ...more })
  return { guard, world }
}

/** Seconds to wait, or 0 when the attempt may go on. */
function waitOf(attempt: () => void): number {
  try {
    attempt()
    return 0
  } catch (error) {
    return error instanceof Problem ? (error.retry_after_s ?? Number.NaN) : Number.NaN
  }
}

test('each further attempt doubles the wait, up to the limit', () => {
  const { guard, world } = guardOf()
  const attempt = () => guard.attempt('a@b.c')
  expect([1, 2, 3].map(() => waitOf(attempt))).toEqual([0, 0, 0])
  for (const expected_s of [1, 2, 4, 4]) {
    expect(waitOf(attempt)).toBe(expected_s)
    world.now_ms += expected_s * 1000
    expect(waitOf(attempt)).toBe(0)
  }
})

test('other accounts are not affected, and a success clears the account', () => {
  const { guard } = guardOf()
  for (const _ of [1, 2, 3]) guard.attempt('a@b.c')
  expect(waitOf(() => guard.attempt('d@e.f'))).toBe(0)
  guard.succeeded('a@b.c')
  expect(waitOf(() => guard.attempt('a@b.c'))).toBe(0)
})

test('the account with the oldest last attempt is evicted', () => {
  const { guard } = guardOf({ accounts_max: 1 })
  for (const _ of [1, 2, 3]) guard.attempt('a@b.c')
  guard.attempt('d@e.f')
  expect(waitOf(() => guard.attempt('a@b.c'))).toBe(0)
})
