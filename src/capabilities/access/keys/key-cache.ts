import { timingSafeEqual } from 'node:crypto'
import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import { problem } from '../../../kernel/problem.ts'
import { type Clock, sleep } from '../../../kernel/time.ts'
import { hashSecret, type ProjectKey } from './project-key.ts'

/** A key as the store has it; one that is revoked or disabled counts as absent. */
export type StoredKey<K extends KeyOwner = ProjectKey> = {
  /** What the key stands for. */
  owner: K
  secret_hash: Buffer
  expires_at_ms: number | null
}

/** Whatever a key stands for, with the key's own id. */
export type KeyOwner = { key_id: string }

export type KeyCacheOptions<K extends KeyOwner = ProjectKey> = {
  /** Reads a key by its public prefix; rejects when the store can not say. */
  load: (prefix: string) => Promise<StoredKey<K> | undefined>
  /** The public prefix of a well-formed key; undefined for any other text. */
  prefixOf: (key: string) => string | undefined
  clock: Clock
  /** Hears of every use of a valid key; on the hot path, so it must be quick. */
  onUsed?: (key_id: string) => void
} & Partial<KeyCacheLimits>

export type KeyCacheLimits = {
  /** How long an answer holds: within it a revoked key stops everywhere. From half of it on, a
   * use renews the answer in the background. */
  ttl_ms: number
  /** How much longer a known key is served while the store is out of reach. */
  stale_ms: number
  /** How long "there is no such key" holds. */
  negative_ttl_ms: number
  /** Known keys kept, and as many unknown ones; the longest not renewed goes first. */
  entries_max: number
  /** How long the holder of an outdated answer waits for the store before it is used. */
  load_wait_ms: number
  /** After a failed load, how long until the store is asked again. */
  retry_ms: number
  /** Loads under way at once; the hot path must not use up the store's connections. */
  loads_max: number
}

/** Tells whose a key is. */
export type KeyCache<K extends KeyOwner = ProjectKey> = {
  /**
   * What the key stands for (its project and scopes), or undefined for a key that is not valid; at once when a fresh
   * answer is held. Rejects with `store_unavailable` when the store is out of reach and the key
   * is not known from before.
   */
  authenticate(key: string): K | undefined | Promise<K | undefined>
  /** Forgets what is known of a key, so that a change made here counts at once. */
  forget(prefix: string): void
}

/** A bounded cache of keys, so that a proxied call waits for no store and outlives its outage. */
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
  /** When its load began, so that the time to live counts from before the read. */
  loaded_at_ms: number
}

class LoadingKeyCache<K extends KeyOwner> implements KeyCache<K> {
  readonly #settings: Settings<K>
  readonly #known: BoundedCache<string, Entry<K>>
  readonly #unknownSince_ms: BoundedCache<string, number>
  readonly #loads = new Map<string, Promise<Entry<K> | undefined>>()
  /** When the last load failed, if none has succeeded since. */
  #failedAt_ms: number | undefined

  constructor(settings: Settings<K>) {
    this.#settings = settings
    this.#known = new BoundedCache(settings.entries_max)
    this.#unknownSince_ms = new BoundedCache(settings.entries_max)
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
    if (this.#failedAt_ms === undefined) return this.#askAgain(prefix, key)
    this.#renew(prefix)
    return this.#compare(entry, key)
  }

  forget(prefix: string): void {
    this.#known.delete(prefix)
    this.#unknownSince_ms.delete(prefix)
    this.#loads.delete(prefix)
  }

  #isUnknown(prefix: string, now_ms: number): boolean {
    const since_ms = this.#unknownSince_ms.get(prefix)
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

  /** The store answers as far as is known: wait for it, but not so long that a call suffers. */
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
    return this.#unknownSince_ms.has(prefix) ? undefined : this.#askFirst(prefix, key)
  }

  #renew(prefix: string): void {
    if (this.#mayNotLoad(prefix)) return
    this.#load(prefix).catch(() => {
      // The failure is noted; what is known goes on being served until it is too old.
    })
  }

  #mayNotLoad(prefix: string): boolean {
    if (this.#loads.has(prefix)) return false
    const { clock, retry_ms, loads_max } = this.#settings
    if (this.#loads.size >= loads_max) return true
    return this.#failedAt_ms !== undefined && clock.now_ms() - this.#failedAt_ms < retry_ms
  }

  /** Callers for one prefix share a load. One that `forget` overtook is not kept. */
  #load(prefix: string): Promise<Entry<K> | undefined> {
    const running = this.#loads.get(prefix)
    if (running !== undefined) return running
    const load = this.#read(prefix).then(
      (entry) => {
        this.#failedAt_ms = undefined
        if (this.#loads.get(prefix) === load) this.#keep(prefix, entry)
        return entry
      },
      (cause: unknown) => {
        this.#failedAt_ms = this.#settings.clock.now_ms()
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
    if (entry === undefined) this.#unknownSince_ms.set(prefix, this.#settings.clock.now_ms())
    else this.#known.set(prefix, entry)
  }
}

function unavailable(cause?: unknown): Error {
  return problem('store_unavailable', {
    detail: 'The key can not be checked while the relational store is out of reach',
    retry_after_s: 1,
    cause,
  })
}
