import { hash, randomFillSync } from 'node:crypto'
import { canonicalJson } from '../../../kernel/canonical-json.ts'
import { encodeFields } from './record.ts'

/** Erasable parts of a record: the origin of the call, and the requested change. */
export const detailParts = ['origin', 'change'] as const
export type DetailPart = (typeof detailParts)[number]

/** A value outside the chain. The salt prevents guessing the value from its hash. */
export type Detail = { salt: string; value: string }

const saltBytes = 32

/** Returns the value as canonical JSON with a random salt (64 hex digits). */
export function createDetail(value: unknown, salt = newSalt()): Detail {
  return { salt: salt.toString('hex'), value: canonicalJson(value) }
}

/** Random bytes for the next salts: one call for many salts takes a tenth of the time. */
const pool = Buffer.alloc(128 * saltBytes)
let used = pool.length

function newSalt(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += saltBytes
  return pool.subarray(used - saltBytes, used)
}

/** Returns the hash of a detail. The chain contains the hash instead of the detail. */
export function commitTo(part: DetailPart, { salt, value }: Detail): string {
  return hash('sha256', encodeFields('looptrace audit commitment', [part, salt, value]))
}
