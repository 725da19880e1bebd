import { createHash } from 'node:crypto'
import { BlobMismatch, type StoredBlob } from './contract.ts'

/** Hashes and counts what goes by. */
export type ContentHash = {
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
