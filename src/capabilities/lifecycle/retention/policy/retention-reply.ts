import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'
import { Answer, etagOf } from '../../../../platform/http/index.ts'
import { kinds } from '../holds/hold-fields.ts'
import { managedHolds } from '../holds/managed-store.ts'
import type { RetentionDeps } from '../retention-deps.ts'
import { retentionKind } from '../runs/retention-kind.ts'
import { nextTick } from '../schedule/cron.ts'
import { nextSlot } from '../schedule/daily-slots.ts'
import { retentionFields } from './policy-schema.ts'
import { defaultRetention, type RetentionPolicy } from './rules.ts'
import { readRetentionState } from './state-store.ts'
import type { StoredRetention } from './store.ts'

const count = z.int().nonnegative()

/** What GET, PUT and DELETE of a policy answer: the policy, and how retention stands. */
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
    .describe('Those that the resource of `managed_by` declares.'),
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
    .describe('The run that ended last.'),
  deleted_rows: count.describe('Rows that the runs on record have deleted.'),
  deleted_bytes: count.describe('Bytes on disk that those took, about.'),
  next_run_at: z.iso
    .datetime()
    .nullable()
    .describe(
      'When the daily run begins next; one that has passed begins as soon as a worker is there. null without a policy.',
    ),
  next_archive_at: z.iso
    .datetime()
    .nullable()
    .describe('When the schedule of `archive` comes next; null without one.'),
  held_count: count.describe('What is held in the project, each once however many hold it.'),
})

/** What is shown of a policy that may be none. */
export type ShownPolicy = RetentionPolicy &
  Pick<StoredRetention, 'project_id' | 'version' | 'managed_by' | 'next_run_at'> & {
    updated_at: string | null
    updated_by: string | null
  }

/** A project's policy, also when it has set none. */
export function shownPolicy(project_id: string, stored: StoredRetention | undefined): ShownPolicy {
  return stored ?? { ...defaultRetention, ...noChange, project_id }
}

const noChange = {
  version: 0,
  updated_at: null,
  updated_by: null,
  managed_by: null,
  next_run_at: null,
}

/** Answers a policy, with how retention stands in its project. */
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
