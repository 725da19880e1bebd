import { hash } from 'node:crypto'
import type { ActorKind, CallPath } from '../../../model/audit-entry.ts'
import { commitTo, type Detail } from './commitment.ts'
import { encodeFields, type RecordFields } from './record.ts'

/** A read of content by a person. One record in the chain seals a segment of reads. */
export type ContentRead = {
  read_at: string
  action: string
  actor_kind: ActorKind
  actor_id: string
  via: CallPath
  resource_type: string
  resource_id: string | null
  project_id: string | null
  request_id: string
  origin_hash: string
}

/** A read with its origin, unless that was erased. */
export type SealedRead = ContentRead & { details: { origin?: Detail } }

const readFields: readonly (keyof ContentRead)[] = [
  'read_at',
  'action',
  'actor_kind',
  'actor_id',
  'via',
  'resource_type',
  'resource_id',
  'project_id',
  'request_id',
  'origin_hash',
]

/** Returns the hash of a segment: of the hashes of its reads, in their order. */
export function hashSegment(reads: readonly ContentRead[]): string {
  return hash('sha256', encodeFields('looptrace audit segment', reads.map(hashRead)))
}

function hashRead(read: ContentRead): string {
  const values = readFields.map((name) => read[name])
  return hash('sha256', encodeFields('looptrace audit read', values))
}

/**
 * Returns why reads are not those that a record seals, in words; undefined if they are. A record
 * without a segment seals no reads.
 */
export function segmentFault(
  { segment_count, segment_hash }: Pick<RecordFields, 'segment_count' | 'segment_hash'>,
  reads: readonly SealedRead[],
): string | undefined {
  if (segment_hash === null) return reads.length === 0 ? undefined : 'the record seals no reads'
  if (reads.length !== segment_count || hashSegment(reads) !== segment_hash) {
    return `the ${segment_count} reads that the record seals were changed`
  }
  return reads.every(hasOwnOrigin) ? undefined : 'the origin of a read does not match its hash'
}

function hasOwnOrigin({ details: { origin }, origin_hash }: SealedRead): boolean {
  return origin === undefined || commitTo('origin', origin) === origin_hash
}
