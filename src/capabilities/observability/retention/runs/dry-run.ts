import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'
import { asStoreProblem } from '../../../../platform/relational/index.ts'
import { activeHolds } from '../holds/store.ts'
import type { RetentionRules } from '../policy/rules.ts'
import type { RetentionDeps } from '../retention-deps.ts'
import { readArchives } from './archives.ts'
import { bucketSchema, dateOf, type ShownBucket } from './bucket-schema.ts'
import { inspectBucket } from './inspect.ts'
import { dueOwners } from './owners.ts'
import { environmentsFor, futureRows, survey } from './survey.ts'

/** What a run would do now. */
export const dryRunSchema = record('RetentionDryRun', {
  as_of: z.iso.datetime(),
  buckets: z.array(bucketSchema).describe('Oldest day first; at most 1,000.'),
  deleted_rows: z.int().nonnegative(),
  deleted_bytes: z.int().nonnegative(),
  masked_rows: z.int().nonnegative(),
  held_rows: z.int().nonnegative(),
  is_partial: z.boolean().describe('True: there is more, which the sums leave out.'),
})

/** Buckets that are looked into: each costs questions to the store. */
const buckets_max = 1_000

/** Looks what a run under these rules would do now; changes nothing. */
export async function dryRunOf(
  deps: RetentionDeps,
  { project_id, rules }: { project_id: string; rules: RetentionRules },
): Promise<z.infer<typeof dryRunSchema>> {
  const now_ms = deps.clock.now_ms()
  const about = { project_id, rules, now_ms }
  const { db, retention: store } = deps
  const [holds, archives] = await Promise.all([
    activeHolds(db, project_id),
    readArchives(db, project_id),
  ]).catch(rethrow)
  const { steps, is_partial } = await survey(store, about)
  const { archive_before_delete } = rules
  const buckets: ShownBucket[] = []
  for (const step of steps) {
    if (buckets.length >= buckets_max) break
    const environments = environmentsFor(rules, now_ms, step)
    const inspection = { store, project_id, holds, archives, archive_before_delete, environments }
    for (const bucket of step.buckets) {
      const found = await inspectBucket(inspection, step, bucket)
      buckets.push(shown({ ...step, ...found }, found.rows === 0 ? 'keep' : step.action, bucket))
    }
  }
  for (const { day, kind, environment, rows, bytes } of await futureRows(store, about)) {
    const row = { day, kind, environment, rows, bytes, held_rows: 0 }
    buckets.push(shown({ ...row, reason: 'in_future' }, 'keep', row))
  }
  const owners = await dueOwners({ ...about, db, store, holds: async () => holds }).catch(rethrow)
  for (const { day, kind, environment, rows } of owners) {
    const row = { day, kind, environment, rows, bytes: 0, held_rows: 0, reason: null }
    buckets.push(shown(row, 'delete', row))
  }
  return {
    as_of: new Date(now_ms).toISOString(),
    buckets: buckets.slice(0, buckets_max),
    ...totalsOf(buckets),
    is_partial: is_partial || buckets.length > buckets_max,
  }
}

function rethrow(error: unknown): never {
  throw asStoreProblem(error)
}

type Found = Pick<ShownBucket, 'kind' | 'environment' | 'reason' | 'held_rows'> & {
  day: number
  rows: number
  bytes: number
}

/** Of what stays all rows are told, else those that go. */
function shown(
  { day, kind, environment, reason, held_rows, ...found }: Found,
  action: ShownBucket['action'],
  all: { rows: number; bytes: number },
): ShownBucket {
  const { rows, bytes } = action === 'keep' ? all : found
  return { day: dateOf(day), kind, environment, action, reason, rows, bytes, held_rows }
}

function totalsOf(buckets: readonly ShownBucket[]) {
  const sum = (of: 'rows' | 'bytes' | 'held_rows', action?: ShownBucket['action']) =>
    buckets
      .filter((bucket) => action === undefined || bucket.action === action)
      .reduce((all, bucket) => all + bucket[of], 0)
  return {
    deleted_rows: sum('rows', 'delete'),
    deleted_bytes: sum('bytes', 'delete'),
    masked_rows: sum('rows', 'mask'),
    held_rows: sum('held_rows'),
  }
}
