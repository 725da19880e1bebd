import { z } from 'zod'
import { parsedJson } from '../../../kernel/json-values.ts'
import { record } from '../../../model/named-schemas.ts'
import { eventSchema } from './event.ts'
import type { ReadRow } from './store.ts'

const { actor_kind, via, resource_type, resource_id, project_id, request_id, origin } =
  eventSchema.shape

/** The schema of a read of content. */
export const auditedReadSchema = record('AuditedRead', {
  read_at: z.iso.datetime(),
  action: z.string().describe('The operationId of the route.'),
  actor_kind,
  actor_id: z.string(),
  via,
  resource_type,
  resource_id,
  project_id,
  request_id,
  origin,
  segment_seq: z
    .int()
    .nullable()
    .describe(
      'Number of the record that seals the read. null: not sealed yet, for about a second.',
    ),
})

/** A read of content, as replies and streams show it. */
export type AuditedRead = z.input<typeof auditedReadSchema>

/** Returns a stored read without its salt. */
export function toAuditedRead(row: ReadRow): AuditedRead {
  const { id: _id, chain_id: _chain, origin_hash: _hash, origin_salt: _salt, ...read } = row
  const { origin_value, ...shown } = read
  const origin = origin_value === null ? null : parsedJson(origin_value)
  return { ...shown, origin: origin as AuditedRead['origin'] }
}
