import { backOff } from '../../../kernel/back-off.ts'
import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import { problem } from '../../../kernel/problem.ts'
import type { Clock } from '../../../kernel/time.ts'

/** Slows down guessing at one account. */
export type SignInGuard = {
  /**
   * Counts an attempt. Call it before the password is checked, or else concurrent attempts all
   * pass. Throws `rate_limited` while the account has to wait.
   */
  attempt(account: string): void
  /** Forgets the attempts on an account. */
  succeeded(account: string): void
}

/**
 * After `attempts_free` failed attempts each further one doubles the wait, up to `wait_ms_max`,
 * which bounds how long an attack can lock out the account's owner. Attempts are counted per
 * process and for any name, whether or not the account exists.
 */
export function createSignInGuard(options: {
  clock: Clock
  attempts_free?: number
  wait_ms?: number
  wait_ms_max?: number
  /** Most accounts remembered; the one with the oldest last attempt is evicted first. */
  accounts_max?: number
}): SignInGuard {
  const { clock, attempts_free = 10, wait_ms = 1_000 } = options
  const { wait_ms_max = 60_000, accounts_max = 10_000 } = options
  const accounts = new BoundedCache<string, Attempts>(accounts_max)
  const waitAfter_ms = (attempts: number) =>
    attempts < attempts_free
      ? 0
      : backOff({ base_ms: wait_ms, max_ms: wait_ms_max }, attempts - attempts_free + 1)
  return {
    attempt: (account) => {
      const now_ms = clock.now_ms()
      const { attempts: before = 0, wait_until_ms = 0 } = accounts.get(account) ?? {}
      if (wait_until_ms > now_ms) throw tooMany(wait_until_ms - now_ms)
      const attempts = before + 1
      accounts.set(account, { attempts, wait_until_ms: now_ms + waitAfter_ms(attempts) })
    },
    succeeded: (account) => {
      accounts.delete(account)
    },
  }
}

type Attempts = { attempts: number; wait_until_ms: number }

function tooMany(left_ms: number): Error {
  return problem('rate_limited', {
    detail: 'Too many failed sign-ins for this account',
    retry_after_s: Math.ceil(left_ms / 1000),
  })
}
