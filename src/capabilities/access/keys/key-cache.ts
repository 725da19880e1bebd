import { timingSafeEqual } from 'node:crypto'
import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import { problem } from '../../../kernel/problem.ts'
import { type Clock, sleep } from '../../../kernel/time.ts'
import { hashSecret, type ProjectKey } from './project-key.ts'

/** A stored key. Revoked and disabled keys count as absent. */
export type StoredKey<K extends KeyOwner = ProjectKey> = {
  /** The project, account or operator that the key belongs to. */
  owner: K
  secret_hash: Buffer
  expires_at_ms: number | null
}

/** The owner of a key, with the key's own id. */
export type KeyOwner = { key_id: string }

export type KeyCacheOptions<K extends KeyOwner = ProjectKey> = {
  /** Reads a key by its public prefix; rejects when the store is unavailable. */
  load: (prefix: string) => Promise<StoredKey<K> | undefined>
  /** The public prefix of a well-formed key; undefined for any other text. */
  prefixOf: (key: string) => string | undefined
  clock: Clock
  /** Called for every use of a valid key, on the hot path: it must be fast. */
  onUsed?: (key_id: string) => void
} & Partial<KeyCacheLimits>

export type KeyCacheLimits = {
  /**
   * Lifetime of a cached answer: a revoked key is refused everywhere within this time. In the
   * second half of its lifetime, a use renews the answer in the background.
   */
  ttl_ms: number
  /** Additional time for which a known key is accepted while the store is unavailable. */
  stale_ms: number
  /** Lifetime of the answer that a key does not exist. */
  negative_ttl_ms: number
  /** Maximum known keys, and unknown ones, in the cache. The least recently renewed is evicted. */
  entries_max: number
  /** How long a request waits for the store before an outdated answer is used. */
  load_wait_ms: number
  /** Wait after a failed load before the next one. */
  retry_ms: number
  /** Maximum concurrent loads, so that the hot path does not use up the store's connections. */
  loads_max: number
}

/** Authenticates keys. */
export type KeyCache<K extends KeyOwner = ProjectKey> = {
  /**
   * Returns the owner of the key (its project and scopes), or undefined for an invalid key. Returns
   * at once when a fresh answer is cached. Rejects with `store_unavailable` when the store is
   * unavailable and the key is not cached.
   */
  authenticate(key: string): K | undefined | Promise<K | undefined>
  /** Forgets a key, so that a change made in this process takes effect at once. */
  forget(prefix: string): void
}

/**
 * Creates a bounded cache of keys, so that proxied calls neither wait for the store nor need it.
 */
export function createKeyCache<K extends KeyOwner = ProjectKey>(
  options: KeyCacheOptions<K>,
): KeyCache<K> {
  return new LoadingKeyCache({ ...limits, ...options })
}

const limits: KeyCacheLimits = {
  ttl_ms: 30_000,
  stale_ms: 24 * 60 * 60 * 1000,
  negative_ttl_ms: 5_000,
  entries_max: 10_000,
  load_wait_ms: 1_000,
  retry_ms: 1_000,
  loads_max: 50,
}

type Settings<K extends KeyOwner> = KeyCacheLimits & KeyCacheOptions<K>
type Entry<K extends KeyOwner> = StoredKey<K> & {
  /** Time at which its load began: the lifetime counts from before the read. */
  loaded_at_ms: number
}

class LoadingKeyCache<K extends KeyOwner> implements KeyCache<K> {
  readonly #settings: Settings<K>
  readonly #known: BoundedCache<string, Entry<K>>
  readonly #unknownSinceMs: BoundedCache<string, number>
  readonly #loads = new Map<string, Promise<Entry<K> | undefined>>()
  /** Time of the last failed load, when no load has succeeded since. */
  #failedAtMs: number | undefined

  constructor(settings: Settings<K>) {
    this.#settings = settings
    this.#known = new BoundedCache(settings.entries_max)
    this.#unknownSinceMs = new BoundedCache(settings.entries_max)
  }

  authenticate(key: string): K | undefined | Promise<K | undefined> {
    const { clock, prefixOf, ttl_ms, stale_ms } = this.#settings
    const prefix = prefixOf(key)
    if (prefix === undefined) return undefined
    const now_ms = clock.now_ms()
    const entry = this.#known.get(prefix)
    if (entry === undefined) {
      return this.#isUnknown(prefix, now_ms) ? undefined : this.#askFirst(prefix, key)
    }
    const age_ms = now_ms - entry.loaded_at_ms
    if (age_ms < ttl_ms) {
      if (age_ms >= ttl_ms / 2) this.#renew(prefix)
      return this.#compare(entry, key)
    }
    if (age_ms >= ttl_ms + stale_ms) return this.#askFirst(prefix, key)
    if (this.#failedAtMs === undefined) return this.#askAgain(prefix, key)
    this.#renew(prefix)
    return this.#compare(entry, key)
  }

  forget(prefix: string): void {
    this.#known.delete(prefix)
    this.#unknownSinceMs.delete(prefix)
    this.#loads.delete(prefix)
  }

  #isUnknown(prefix: string, now_ms: number): boolean {
    const since_ms = this.#unknownSinceMs.get(prefix)
    return since_ms !== undefined && now_ms - since_ms < this.#settings.negative_ttl_ms
  }

  #compare(entry: Entry<K>, key: string): K | undefined {
    const { clock, onUsed } = this.#settings
    if (!timingSafeEqual(entry.secret_hash, hashSecret(key))) return undefined
    if (entry.expires_at_ms !== null && entry.expires_at_ms <= clock.now_ms()) return undefined
    onUsed?.(entry.owner.key_id)
    return entry.owner
  }

  async #askFirst(prefix: string, key: string): Promise<K | undefined> {
    if (this.#mayNotLoad(prefix)) throw unavailable()
    const entry = await this.#load(prefix)
    return entry && this.#compare(entry, key)
  }

  /** Waits up to `load_wait_ms` for the store. Called if its last load succeeded. */
  async #askAgain(prefix: string, key: string): Promise<K | undefined> {
    const waited = new AbortController()
    const answered = this.#mayNotLoad(prefix)
      ? Promise.resolve(false)
      : this.#load(prefix).then(
          () => true,
          () => false,
        )
    const late = sleep(this.#settings.load_wait_ms, waited.signal).then(() => false)
    await Promise.race([answered, late])
    waited.abort()
    const entry = this.#known.get(prefix)
    if (entry !== undefined) return this.#compare(entry, key)
    return this.#unknownSinceMs.has(prefix) ? undefined : this.#askFirst(prefix, key)
  }

  #renew(prefix: string): void {
    if (this.#mayNotLoad(prefix)) return
    this.#load(prefix).catch(() => {
      // The failure is recorded; the cached answer is used until it is too old.
    })
  }

  #mayNotLoad(prefix: string): boolean {
    if (this.#loads.has(prefix)) return false
    const { clock, retry_ms, loads_max } = this.#settings
    if (this.#loads.size >= loads_max) return true
    return this.#failedAtMs !== undefined && clock.now_ms() - this.#failedAtMs < retry_ms
  }

  /** Loads a key; callers for one prefix share a load. A load before a `forget` is not kept. */
  #load(prefix: string): Promise<Entry<K> | undefined> {
    const running = this.#loads.get(prefix)
    if (running !== undefined) return running
    const load = this.#read(prefix).then(
      (entry) => {
        this.#failedAtMs = undefined
        if (this.#loads.get(prefix) === load) this.#keep(prefix, entry)
        return entry
      },
      (cause: unknown) => {
        this.#failedAtMs = this.#settings.clock.now_ms()
        if (this.#loads.get(prefix) === load) this.#loads.delete(prefix)
        throw unavailable(cause)
      },
    )
    this.#loads.set(prefix, load)
    return load
  }

  async #read(prefix: string): Promise<Entry<K> | undefined> {
    const loaded_at_ms = this.#settings.clock.now_ms()
    const stored = await this.#settings.load(prefix)
    if (stored === undefined) return undefined
    return { ...stored, loaded_at_ms }
  }

  #keep(prefix: string, entry: Entry<K> | undefined): void {
    this.forget(prefix)
    if (entry === undefined) this.#unknownSinceMs.set(prefix, this.#settings.clock.now_ms())
    else this.#known.set(prefix, entry)
  }
}

function unavailable(cause?: unknown): Error {
  return problem('store_unavailable', {
    detail:
      'The key cannot be checked while the relational store is unavailable. Retry the request',
    retry_after_s: 1,
    cause,
  })
}
