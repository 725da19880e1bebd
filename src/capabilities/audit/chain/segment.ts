import { hash } from 'node:crypto'
import type { ActorKind, CallPath } from '../../../model/audit-entry.ts'
import { encodeFields } from './record.ts'

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
