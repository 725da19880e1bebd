import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'
import { Answer, etagOf } from '../../../../platform/http/index.ts'
import { type RetentionDeps, retentionKind } from '../contract.ts'
import { kinds } from '../legal-holds/legal-holds.ts'
import { managedHolds } from '../legal-holds/managed-store.ts'
import { nextSlot, nextTick } from '../schedule/slots.ts'
import { retentionFields } from './policy-schema.ts'
import { defaultRetention, type RetentionPolicy } from './rules.ts'
import { readRetentionState } from './state-store.ts'
import type { StoredRetention } from './store.ts'

const count = z.int().nonnegative()

/** Reply of GET, PUT and DELETE: the policy and the state of retention. */
export const retentionReply = record('RetentionPolicy', {
  ...retentionFields,
  legal_holds: z
    .array(
      record('DeclaredLegalHold', {
        hold_id: z.uuid(),
        name: z.string(),
        kind: z.enum(kinds),
        value: z.string(),
        reason: z.string(),
      }),
    )
    .describe('Legal holds that the resource of `managed_by` declares.'),
  last_run: z
    .strictObject({
      job_id: z.uuid(),
      state: z.enum(['succeeded', 'failed']),
      ended_at: z.iso.datetime(),
      deleted_rows: count,
      deleted_bytes: count,
    })
    .meta({ id: 'LastRetentionRun' })
    .nullable()
    .describe('The run that ended last; null before the first one.'),
  deleted_rows: count.describe('Rows deleted by the runs on record.'),
  deleted_bytes: count.describe('Approximate bytes on disk of those rows.'),
  next_run_at: z.iso
    .datetime()
    .nullable()
    .describe(
      'Time of the next daily run. A time in the past means that the run starts as soon as a worker is available. null without a policy.',
    ),
  next_archive_at: z.iso
    .datetime()
    .nullable()
    .describe('Next time of the schedule of `archive`; null without one.'),
  held_count: count.describe('Number of held items; an item with several holds counts once.'),
})

/** A stored policy, or the default. */
export type ShownPolicy = RetentionPolicy &
  Pick<StoredRetention, 'project_id' | 'version' | 'managed_by' | 'next_run_at'> & {
    updated_at: string | null
    updated_by: string | null
  }

/** Returns a project's policy, or the default when it has set none. */
export function policyOrDefault(
  project_id: string,
  stored: StoredRetention | undefined,
): ShownPolicy {
  return stored ?? { ...defaultRetention, ...noChange, project_id }
}

const noChange = {
  version: 0,
  updated_at: null,
  updated_by: null,
  managed_by: null,
  next_run_at: null,
}

/** Builds the reply: a policy with the state of retention in its project. */
export async function retentionAnswer(
  { db, clock, hour }: Pick<RetentionDeps, 'db' | 'clock' | 'hour'>,
  policy: ShownPolicy,
) {
  const { project_id, days, environments, archive_before_delete, archive } = policy
  const { version, updated_at, updated_by, managed_by } = policy
  const [state, holds] = await Promise.all([
    readRetentionState(db, { project_id, kind: retentionKind }),
    managed_by === null ? [] : managedHolds(db, { project_id, owner: managed_by }),
  ])
  const now_ms = clock.now_ms()
  return new Answer(
    {
      ...{ project_id, days, environments: [...environments], archive_before_delete, archive },
      ...{ version, updated_at, updated_by, managed_by, ...state },
      legal_holds: holds.map(({ id: hold_id, managed_name, kind, value, reason }) => ({
        ...{ hold_id, name: managed_name ?? '', kind, value, reason },
      })),
      next_run_at: version === 0 ? null : (policy.next_run_at ?? isoOf(nextSlot(now_ms, hour))),
      next_archive_at: archive?.enabled ? isoOf(nextTick(archive.schedule, now_ms)) : null,
    },
    { headers: { etag: etagOf(version) } },
  )
}

function isoOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}
