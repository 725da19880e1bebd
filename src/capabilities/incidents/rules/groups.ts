import { createHash } from 'node:crypto'
import { canonicalJson } from '../../../kernel/canonical-json.ts'
import { type Dimension, groups_max } from './rule.ts'

/** Values of the dimensions of `group_by`; empty for an ungrouped rule. */
export type Group = Readonly<Partial<Record<Dimension, string>>>

/** Returns the key of a group: equal groups have equal keys, others differ. */
export function groupKey(group: Group): string {
  return canonicalJson(group)
}

/**
 * Maximum characters of a group's value; longer ones are cut. Values are chosen by applications, and
 * the key of a group must fit an index entry of PostgreSQL.
 */
export const maxGroupValueChars = 128

const value_bytes_max = 400

/** Returns a group whose values, which payloads choose, an index can hold. */
export function boundedGroup(group: Group): Group {
  return Object.fromEntries(
    Object.entries(group).map(([name, value]) => [name, boundedText(value, value_bytes_max)]),
  )
}

const kept_chars = 40

const digest_chars = 16

/**
 * Returns text that an index can hold. Longer text keeps its beginning and ends in its digest, so
 * that different texts remain different. The size is that of the text as JSON, because payloads may
 * consist of characters that JSON escapes.
 */
export function boundedText(text: string, bytes_max: number): string {
  const clean = text.replaceAll('\u0000', '\ufffd').toWellFormed()
  if (Buffer.byteLength(JSON.stringify(clean)) <= bytes_max) return clean
  const digest = createHash('sha256').update(clean).digest('hex').slice(0, digest_chars)
  return `${clean.slice(0, kept_chars).toWellFormed()}…${digest}`
}

/** The groups of a rule at a slot. */
export type Admission = { admitted: readonly string[]; overflow: number }

/**
 * Admits groups, first come, first served. `known` are the keys of the groups with state, which
 * keep their place until they are forgotten; a group with an open incident is never forgotten. New
 * groups of the same slot are admitted in the order of their keys.
 */
export function admitGroups(
  known: readonly string[],
  arriving: readonly string[],
  max = groups_max,
): Admission {
  const admitted = new Set(known)
  let overflow = 0
  for (const key of [...new Set(arriving)].toSorted()) {
    if (admitted.has(key)) continue
    if (admitted.size < max) admitted.add(key)
    else overflow += 1
  }
  return { admitted: [...admitted], overflow }
}
