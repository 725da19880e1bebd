import { problem } from '../../../kernel/problem.ts'
import { type OnboardingTables, type Selectable, sql } from '../../../platform/relational/index.ts'
import type { OnboardingDb } from '../contract.ts'
import type { Metadata } from './event.ts'

/** A stored event. */
export type StoredEvent = Selectable<OnboardingTables['onboarding_events']>

/** An event to store; instants are dates. */
export type NewEvent = Pick<
  StoredEvent,
  'event_id' | 'name' | 'subject' | 'clock' | 'skew_ms' | 'masked' | 'digest' | 'posted_by'
> & { occurred_at: Date; client_at: Date | null; received_at: Date; metadata: Metadata }

/** Maximum events of a project that are stored at a time, and in a minute. */
const events_max = 50_000
export const maxEventsPerMinute = 1_000

/** Days for which events are kept. */
const eventsKeptDays = 400

/**
 * Stores events of a project, all or none. Returns the stored events in the given order. An event
 * that is already stored stays unchanged. Throws `idempotency_conflict` for an id of another event,
 * `rate_limited`, and `limit_reached` if the project has `events_max` events.
 */
export async function storeEvents(
  db: OnboardingDb,
  project_id: string,
  events: readonly NewEvent[],
): Promise<{ event: StoredEvent; is_new: boolean }[]> {
  return db.transaction().execute(async (trx) => {
    // One request of a project at a time, so that concurrent requests cannot exceed a limit.
    const lock = `looptrace.onboarding_events ${project_id}`
    await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(trx)
    const inserted = await trx
      .insertInto('onboarding_events')
      .values(
        events.map(({ metadata, ...event }) => ({
          ...event,
          project_id,
          metadata: JSON.stringify(metadata),
        })),
      )
      .onConflict((conflict) => conflict.columns(['project_id', 'event_id']).doNothing())
      .returning('event_id')
      .execute()
    if (inserted.length > 0) await assertRoom(trx, project_id, events)
    const rows = await trx
      .selectFrom('onboarding_events')
      .selectAll()
      .where('project_id', '=', project_id)
      .where(
        'event_id',
        'in',
        events.map(({ event_id }) => event_id),
      )
      .execute()
    const stored = new Map(rows.map((row) => [row.event_id, row]))
    const added = new Set(inserted.map(({ event_id }) => event_id))
    return events.map(({ event_id, digest }, at) => {
      const event = stored.get(event_id)
      if (event === undefined || !event.digest.equals(digest)) throw conflictOf(event_id, at)
      // A second event with the same id in a request is a repetition of the first.
      return { event, is_new: added.delete(event_id) }
    })
  })
}

/** Throws when the stored events of the project, the new ones included, exceed a limit. */
async function assertRoom(
  trx: OnboardingDb,
  project_id: string,
  [first]: readonly NewEvent[],
): Promise<void> {
  const minuteAgo = new Date((first?.received_at.getTime() ?? 0) - 60_000)
  const { rows } = await sql<{ all: number; recent: number }>`
    select count(*)::int as "all", (count(*) filter (where received_at > ${minuteAgo}))::int as recent
    from onboarding_events where project_id = ${project_id}`.execute(trx)
  const { all = 0, recent = 0 } = rows[0] ?? {}
  if (recent > maxEventsPerMinute) {
    throw problem('rate_limited', {
      detail: `The project has its maximum of ${maxEventsPerMinute} new events per minute. Retry later.`,
      retry_after_s: 60,
    })
  }
  if (all > events_max) {
    throw problem('limit_reached', {
      detail: `The project has ${events_max} onboarding events, the maximum. Events are deleted after ${eventsKeptDays} days.`,
    })
  }
}

function conflictOf(event_id: string, at: number) {
  const detail = `got "${event_id}", the id of another event; expected the same event, or a new id`
  return problem('idempotency_conflict', {
    detail: `event_id: ${detail}`,
    faults: [{ pointer: `/events/${at}/event_id`, detail }],
  })
}

/** Maximum events that one pass deletes. */
const deleted_max = 10_000

/** Deletes events that were received more than `eventsKeptDays` ago. */
export async function deleteOldEvents(db: OnboardingDb, now_ms: number): Promise<void> {
  const before = new Date(now_ms - eventsKeptDays * 86_400_000)
  await sql`delete from onboarding_events where ctid in (
    select ctid from onboarding_events where received_at < ${before} limit ${deleted_max})`.execute(
    db,
  )
}
