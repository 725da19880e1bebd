import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'

/**
 * The port to files that are written once and read whole: archives. A name is `a/b/c.parquet`, see
 * `assertBlobName`. Every method rejects with BlobsUnavailable when the store is out of reach or
 * refuses us, and with the signal's reason when it aborts.
 */
export type Blobs = {
  /** Where it is, for people; never with credentials. */
  readonly place: string
  /**
   * Stores a blob, in place of one that has the name. It is there as a whole or not at all: what
   * was there before stays until the last byte is safe. Memory is bounded, whatever the length.
   * Rejects with BlobMismatch, and stores nothing, when `sha256` is given and is another one.
   */
  put(name: string, content: BlobContent, options?: PutOptions): Promise<StoredBlob>
  /** The bytes of a blob, as they come. Rejects with BlobMissing. Destroy what is not read up. */
  get(name: string, options?: BlobOptions): Promise<Readable>
  /** What is known of a blob; undefined when there is none. */
  stat(name: string, options?: BlobOptions): Promise<BlobStat | undefined>
  /** The blobs whose names begin with the prefix, in the order of their names' bytes. */
  list(prefix: string, options?: BlobOptions): AsyncIterable<BlobStat>
  /** Removes a blob; that there is none is fine. */
  delete(name: string, options?: BlobOptions): Promise<void>
  /**
   * Gives up what puts below the prefix left that never ended, since their process was killed. No
   * other put may be under way there.
   */
  discardUnfinished(prefix: string, options?: BlobOptions): Promise<void>
  /** Frees connections. */
  close(): void
}

export type BlobContent = AsyncIterable<Uint8Array> | Iterable<Uint8Array>
type BlobOptions = { signal?: AbortSignal | undefined }
export type PutOptions = BlobOptions & {
  /** What the bytes have to hash to: 64 hex digits. */
  sha256?: string
}
export type BlobStat = { name: string; bytes: number }
/** A blob as it was written; `sha256` in 64 hex digits. */
export type StoredBlob = BlobStat & { sha256: string }

/** The store is out of reach, is too slow, or refuses what we ask. Waiting may help. */
export class BlobsUnavailable extends Error {
  override readonly name = 'BlobsUnavailable'
}

/** There is no blob of that name. */
export class BlobMissing extends Error {
  override readonly name = 'BlobMissing'
}

/** The bytes are not those that were announced. */
export class BlobMismatch extends Error {
  override readonly name = 'BlobMismatch'
}

/** The place of the blobs is not one that we can use; a mistake in the configuration. */
export class BlobsMisplaced extends Error {
  override readonly name = 'BlobsMisplaced'
}

/** S3 takes 1,024 bytes, of which a prefix takes some; a folder's file name 255. */
const characters_max = 700
const part_max = 200

/**
 * Throws TypeError unless the name is parts of lower-case letters, digits, `.`, `_`, `-` and `=`,
 * with `/` between them: so it is a path below the store's place on every driver.
 */
export function assertBlobName(name: string): void {
  const parts = name.split('/')
  if (name.length <= characters_max && parts.every(isPart)) return
  const shown = JSON.stringify(name.slice(0, 80))
  throw new TypeError(`got the blob name ${shown}, expected parts of a-z, 0-9, ".", "_" and "-"`)
}

function isPart(part: string): boolean {
  return part.length <= part_max && /^[a-z0-9_][a-z0-9._=-]*$/.test(part)
}

/** The same for a prefix, which may end anywhere and be empty. */
export function assertBlobPrefix(prefix: string): void {
  const whole = prefix.replace(/\/$/, '')
  if (whole !== '') assertBlobName(whole)
}

/** Hashes and counts what goes by. */
type ContentHash = {
  add: (chunk: Uint8Array) => void
  /** What went by, as a blob of that name. Throws BlobMismatch when another hash is expected. */
  end: (name: string, expected: string | undefined) => StoredBlob
}

export function contentHash(): ContentHash {
  const hash = createHash('sha256')
  let bytes = 0
  return {
    add: (chunk) => {
      hash.update(chunk)
      bytes += chunk.length
    },
    end: (name, expected) => {
      const sha256 = hash.digest('hex')
      if (expected === undefined || expected === sha256) return { name, bytes, sha256 }
      throw new BlobMismatch(`${name}: got bytes with SHA-256 ${sha256}, expected ${expected}`)
    },
  }
}
