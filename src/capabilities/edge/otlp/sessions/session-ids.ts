import { createHash } from 'node:crypto'
import { derivedId } from '../../../../kernel/ids.ts'
import type { OtlpAttributes } from '../contract.ts'
import { stringOf } from '../mapping/value-text.ts'

/** A session of a client, and the prompt in it; `prompt` is empty for records of the whole session. */
export type SessionPlace = { project_id: string; client: string; session: string; prompt: string }

/**
 * Returns the id of the trace of one prompt of a session. It depends on the project, so that equal
 * sessions of two projects have two traces, and on nothing that differs between two deliveries.
 */
export function sessionTraceId({ project_id, client, session, prompt }: SessionPlace): string {
  return derivedId(project_id, JSON.stringify(['session', client, session, prompt]))
}

/**
 * Returns the id of an item without an id of its own, as 16 hex digits: equal for the same item in
 * another request, in any order of its attributes.
 */
export function itemId(parts: readonly string[], { keys, values }: OtlpAttributes): string {
  const pairs = keys.map((key, at) => [key, stringOf(values[at])] as const)
  const sorted = pairs.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  const text = JSON.stringify([parts, sorted])
  const id = createHash('sha256').update(text).digest('hex').slice(0, 16)
  return id === '0000000000000000' ? '0000000000000001' : id
}
