import { hash } from 'node:crypto'
import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import { problem } from '../../../kernel/problem.ts'
import type { Clock } from '../../../kernel/time.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import { limitRules } from './sign-in-limits.ts'
import {
  type CountedKey,
  countAttempt,
  deleteCount,
  forgetAccount,
  isKnownNetwork,
  rememberNetwork,
  uncountAttempt,
} from './store.ts'

/** The account that is signed in to (a lower-case e-mail), and the network of the client. */
type Attempt = { account: string; network: string }

/** Slows down guesses of passwords, without locking the owners of accounts out. */
export type SignInGuard = {
  /**
   * Counts an attempt and runs `check`, which returns undefined for wrong credentials. Throws
   * `rate_limited` without a check while the client has to wait, and `store_unavailable` when
   * attempts cannot be counted. A success forgets the attempts on the account from this network.
   */
  attempt<T>(attempt: Attempt, check: () => Promise<T | undefined>): Promise<T | undefined>
  /** Records that the account is used from the network, by a refresh token for example. */
  remember(attempt: Attempt): Promise<void>
  /** Forgets all attempts on an account and all its networks but this one, after a reset. */
  forgive(attempt: Attempt): Promise<void>
  /** Counts a request for a reset link. Throws `rate_limited`. */
  countReset(network: string): Promise<void>
}

/** Time for which an account is known at a network after its last use. */
const known_ms = 90 * 24 * 60 * 60 * 1000
/** Time for which a refusal is repeated without a read of the store. */
const recheck_ms = 5_000
/** Maximum remembered refusals. */
const refusals_max = 10_000

/**
 * Creates the guard. Attempts are counted in PostgreSQL, for all processes together, and for any
 * account name, whether or not the account exists. An attempt is counted by account and network,
 * by network, and by account. At a network from which the account signed in before, only the first
 * of these counts, so that attempts from elsewhere do not delay the account there.
 */
export function createSignInGuard(options: {
  db: Kysely<AccessTables>
  clock: Clock
}): SignInGuard {
  const { db, clock } = options
  const refusals = new BoundedCache<string, { until_ms: number; recheck_at_ms: number }>(
    refusals_max,
  )
  const knownSince = () => new Date(clock.now_ms() - known_ms)
  const remember = (attempt: Attempt) =>
    rememberNetwork(db, {
      ...toHashes(attempt),
      now: new Date(clock.now_ms()),
      since: knownSince(),
    })
  const count = async (attempt: Attempt): Promise<CountedKey[]> => {
    const { pair, ...shared } = keysOf(attempt)
    const now_ms = clock.now_ms()
    const name = pair.key_hash.toString('base64')
    const refused = refusals.get(name)
    if (refused !== undefined && refused.recheck_at_ms > now_ms) {
      throw tooMany(refused.until_ms - now_ms)
    }
    const isKnown = await isKnownNetwork(db, { ...toHashes(attempt), since: knownSince() })
    const keys = isKnown ? [pair] : [pair, shared.network, shared.account]
    const refuse = (wait_ms: number) => {
      const until_ms = now_ms + wait_ms
      refusals.set(name, { until_ms, recheck_at_ms: Math.min(until_ms, now_ms + recheck_ms) })
      return tooMany(wait_ms)
    }
    await countAttempt(db, keys, { now_ms, refuse })
    return keys
  }
  return {
    attempt: async (attempt, check) => {
      const keys = await count(attempt)
      const found = await check().catch(async (error: unknown) => {
        await uncountAll(db, keys)
        throw error
      })
      if (found === undefined) return undefined
      const [pair, ...shared] = keys
      if (pair !== undefined) await deleteCount(db, pair)
      await uncountAll(db, shared)
      await remember(attempt)
      return found
    },
    remember,
    forgive: async (attempt) => {
      await forgetAccount(db, toHashes(attempt).account_hash)
      refusals.delete(keysOf(attempt).pair.key_hash.toString('base64'))
      await remember(attempt)
    },
    countReset: (network) => {
      const key_hash = digest('reset', network)
      const key = { key_hash, account_hash: null, rule: limitRules.reset }
      return countAttempt(db, [key], { now_ms: clock.now_ms(), refuse: tooManyResets })
    },
  }
}

async function uncountAll(db: Kysely<AccessTables>, keys: readonly CountedKey[]): Promise<void> {
  for (const key of keys) await uncountAttempt(db, key)
}

function keysOf(attempt: Attempt): Record<'pair' | 'network' | 'account', CountedKey> {
  const { account, network } = attempt
  const { account_hash, network_hash } = toHashes(attempt)
  return {
    pair: { key_hash: digest('pair', network, account), account_hash, rule: limitRules.pair },
    network: { key_hash: network_hash, account_hash: null, rule: limitRules.network },
    account: { key_hash: account_hash, account_hash, rule: limitRules.account },
  }
}

function toHashes({ account, network }: Attempt) {
  return { account_hash: digest('account', account), network_hash: digest('network', network) }
}

/** Hashes a list of texts, as JSON, so that different lists have different hashes. */
function digest(...parts: readonly string[]): Buffer {
  return hash('sha256', JSON.stringify(parts), 'buffer')
}

function tooMany(wait_ms: number): Error {
  return problem('rate_limited', {
    detail: 'Too many failed sign-ins. Retry later, or reset the password.',
    retry_after_s: Math.ceil(wait_ms / 1000),
  })
}

function tooManyResets(wait_ms: number): Error {
  return problem('rate_limited', {
    detail: 'Too many requests for reset links from this network. Retry later.',
    retry_after_s: Math.ceil(wait_ms / 1000),
  })
}
