import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'

/**
 * The port to immutable files (archives). A name is like `a/b/c.parquet`; see `assertBlobName`.
 * Every method rejects with BlobsUnavailable when the store is unavailable or denies access, and
 * with the signal's reason when it aborts.
 */
export type Blobs = {
  /** Location for people, without credentials. */
  readonly place: string
  /**
   * Stores a blob atomically, replacing a blob of the same name: the old blob is kept until the
   * last byte is durable. Memory is bounded for any length. Rejects with BlobMismatch, and stores
   * nothing, when the bytes do not match the given `sha256`.
   */
  put(name: string, content: BlobContent, options?: PutOptions): Promise<StoredBlob>
  /** Streams a blob. Rejects with BlobMissing. Destroy a stream that is not read to its end. */
  get(name: string, options?: BlobOptions): Promise<Readable>
  /** Returns the size of a blob, or undefined when it does not exist. */
  stat(name: string, options?: BlobOptions): Promise<BlobStat | undefined>
  /** Lists blobs whose names start with the prefix, in byte order of their names. */
  list(prefix: string, options?: BlobOptions): AsyncIterable<BlobStat>
  /** Removes a blob, if it exists. */
  delete(name: string, options?: BlobOptions): Promise<void>
  /**
   * Removes unfinished uploads of killed processes below the prefix. No `put` may be in progress
   * there.
   */
  discardUnfinished(prefix: string, options?: BlobOptions): Promise<void>
  /** Closes connections. */
  close(): void
}

export type BlobContent = AsyncIterable<Uint8Array> | Iterable<Uint8Array>
type BlobOptions = { signal?: AbortSignal | undefined }
export type PutOptions = BlobOptions & {
  /** Required SHA-256 of the bytes, 64 hex digits. */
  sha256?: string
}
export type BlobStat = { name: string; bytes: number }
/** A blob as it was written. `sha256` has 64 hex digits. */
export type StoredBlob = BlobStat & { sha256: string }

/** The store is unavailable, too slow, or rejects the request. Retrying may help. */
export class BlobsUnavailable extends Error {
  override readonly name = 'BlobsUnavailable'
}

/** The blob does not exist. */
export class BlobMissing extends Error {
  override readonly name = 'BlobMissing'
}

/** The bytes do not match the expected hash. */
export class BlobMismatch extends Error {
  override readonly name = 'BlobMismatch'
}

/** The location of the blobs is invalid: a configuration error. */
export class BlobsMisplaced extends Error {
  override readonly name = 'BlobsMisplaced'
}

/** Below the limits of S3 (1,024 bytes with the prefix) and of file names (255 bytes). */
const characters_max = 700
const part_max = 200

/**
 * Throws TypeError unless the name consists of parts of lower-case letters, digits, `.`, `_`, `-`
 * and `=`, separated by `/`, so that it is a valid relative path on every driver.
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

/** Checks a prefix like a name. A prefix may be empty or end within a part. */
export function assertBlobPrefix(prefix: string): void {
  const whole = prefix.replace(/\/$/, '')
  if (whole !== '') assertBlobName(whole)
}

/** Hashes and counts streamed bytes. */
type ContentHash = {
  add: (chunk: Uint8Array) => void
  /**
   * Returns the blob of the added bytes. Throws BlobMismatch when the hash is not the expected one.
   */
  end: (name: string, expected: string | undefined) => StoredBlob
}

/** Starts a hash. */
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
