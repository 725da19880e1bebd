import { z } from 'zod'
import { parsedJson } from '../../../kernel/json-values.ts'
import { actorKinds, auditOutcomes, callPaths } from '../../../model/audit-entry.ts'
import { record } from '../../../model/named-schemas.ts'
import type { AuditTables, Selectable } from '../../../platform/relational/index.ts'
import type { Detail, DetailPart } from '../chain/commitment.ts'
import type { ChainRecord } from '../chain/record.ts'
import type { RecordWithDetails } from '../chain/verify-chain.ts'

export type RecordRow = Selectable<AuditTables['audit_records']>

/** A SHA-256 in hexadecimal. */
const hash = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ id: 'AuditHash' })

/** How a call ended. */
export const outcomeSchema = z.enum(auditOutcomes).meta({ id: 'AuditOutcome' })
const actorKind = z.enum(actorKinds).meta({ id: 'AuditActorKind' })
const callPath = z.enum(callPaths).meta({ id: 'AuditCallPath' })

/** An audit event: a record of the chain, with its details if they were not erased. */
export const eventSchema = record('AuditEvent', {
  chain_id: z.uuid().describe('The organization; all zeros: the installation.'),
  seq: z.int().positive().describe('Number of the record in its chain, without gaps.'),
  recorded_at: z.iso.datetime().describe('Time when the call began.'),
  action: z
    .string()
    .describe('The operationId of the route, `job.<kind>`, `command.<name>`, or `sealReads`.'),
  outcome: outcomeSchema.describe(
    '`replayed`: the first reply of an `Idempotency-Key` was returned again.',
  ),
  code: z.string().nullable().describe('Code of the error; null for a successful call.'),
  actor_kind: actorKind,
  actor_id: z.string().nullable().describe('Id of the user, key, account, operator key or job.'),
  via: callPath.describe(
    '`cli`: a command on the server, or a client whose `User-Agent` begins with `looptrace-cli`.',
  ),
  resource_type: z.string().describe('Words of the path: `access/projects/api-keys`.'),
  resource_id: z.string().nullable(),
  project_id: z.uuid().nullable(),
  request_id: z.string(),
  suppressed: z
    .int()
    .describe('Earlier refused calls of the actor that have no record of their own.'),
  segment_count: z.int().nullable().describe('Reads of content that the record seals.'),
  segment_hash: hash.nullable(),
  origin_hash: hash.nullable().describe('Commitment to `origin`. It stays when that is erased.'),
  change_hash: hash.nullable().describe('Commitment to `change`. It stays when that is erased.'),
  hash: hash.describe('SHA-256 of the record and of the hash before it.'),
  origin: record('AuditOrigin', {
    address: z.string().describe('IPv4 address, or /64 of an IPv6 address.'),
    user_agent: z.string().nullable(),
  })
    .nullable()
    .describe('null: none, or erased.'),
  change: record('AuditChange', {
    before: z.unknown().optional().describe('Values before the change, if the action reads them.'),
    after: z.unknown().optional().describe('Requested values. Secrets and contents are masked.'),
    too_long: z.int().optional().describe('Characters of values that were too long to store.'),
  })
    .nullable()
    .describe('null: none, or erased.'),
})

export type AuditEvent = z.input<typeof eventSchema>

/** Returns the chain record of a row. */
export function toChainRecord(row: RecordRow): ChainRecord {
  const { origin_salt: _os, origin_value: _ov, change_salt: _cs, change_value: _cv, ...rest } = row
  return {
    ...rest,
    segment_hash: hex(row.segment_hash),
    origin_hash: hex(row.origin_hash),
    change_hash: hex(row.change_hash),
    hash: row.hash.toString('hex'),
  }
}

/** Returns the event of a row. */
export function toEvent(row: RecordRow): AuditEvent {
  return {
    ...toChainRecord(row),
    origin: parseValue(row.origin_value) as AuditEvent['origin'],
    change: parseValue(row.change_value) as AuditEvent['change'],
  }
}

/** Returns a row with the salts and values that verify its commitments. */
export function toRecordWithDetails(row: RecordRow): RecordWithDetails {
  const details: Partial<Record<DetailPart, Detail>> = {}
  const { origin_salt, origin_value, change_salt, change_value } = row
  if (origin_salt !== null && origin_value !== null) {
    details.origin = { salt: origin_salt.toString('hex'), value: origin_value }
  }
  if (change_salt !== null && change_value !== null) {
    details.change = { salt: change_salt.toString('hex'), value: change_value }
  }
  return { ...toChainRecord(row), details }
}

function hex(bytes: Buffer | null): string | null {
  return bytes === null ? null : bytes.toString('hex')
}

function parseValue(text: string | null): unknown {
  return text === null ? null : (parsedJson(text) ?? null)
}
