import { hash, randomBytes } from 'node:crypto'
import { canonicalJson } from '../../../kernel/canonical-json.ts'
import { encodeFields } from './record.ts'

/** Erasable parts of a record: where the call came from, and what it asked to change. */
export const detailParts = ['origin', 'change'] as const
export type DetailPart = (typeof detailParts)[number]

/** A value beside the chain. Without its salt, the value can not be guessed from the hash. */
export type Detail = { salt: string; value: string }

const saltBytes = 32

/** Returns the value as canonical JSON with a random salt (64 hex digits). */
export function createDetail(value: unknown, salt = randomBytes(saltBytes)): Detail {
  return { salt: salt.toString('hex'), value: canonicalJson(value) }
}

/** Returns the hash of a detail, which the chain has instead of it. */
export function commitTo(part: DetailPart, { salt, value }: Detail): string {
  return hash('sha256', encodeFields('looptrace audit commitment', [part, salt, value]))
}
