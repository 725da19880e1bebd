import type { Severity } from '../../../../model/severity.ts'
import { sql } from '../../../../platform/relational/index.ts'
import type { IncidentDb } from '../../ports.ts'
import type { AlertWindow } from './window.ts'

/** Numbers of unresolved incidents of live rules with a severity and a signal. */
export type OpenCount = {
  severity: Severity
  signal: string
  open: number
  acknowledged: number
  suppressed: number
  flapping: number
}

/** Counts the unresolved incidents of live rules by severity and signal. */
export async function countUnresolved(db: IncidentDb, project_id: string): Promise<OpenCount[]> {
  const { rows } = await sql<OpenCount>`
    select severity, signal, count(*)::int as open,
      (count(*) filter (where state = 'acknowledged'))::int as acknowledged,
      (count(*) filter (where suppressed))::int as suppressed,
      (count(*) filter (where flapping))::int as flapping
    from incidents
    where project_id = ${project_id} and state <> 'resolved' and not shadow
    group by severity, signal order by severity, signal`.execute(db)
  return rows
}

/** Numbers of incidents of live rules in a window. */
export type WindowCount = { new: number; resolved: number }

/** Counts the incidents of live rules that were opened, or resolved, in a window. */
export async function countInWindow(
  db: IncidentDb,
  project_id: string,
  { from, to }: AlertWindow,
): Promise<WindowCount> {
  const { rows } = await sql<WindowCount>`
    select
      (count(*) filter (where opened_at >= ${from} and opened_at < ${to}))::int as new,
      (count(*) filter (where state = 'resolved'
        and resolved_at >= ${from} and resolved_at < ${to}))::int as resolved
    from incidents where project_id = ${project_id} and not shadow`.execute(db)
  return rows[0] ?? { new: 0, resolved: 0 }
}

/** Statistics of the incidents of live rules that were opened in a window; times in ms. */
export type IncidentStats = {
  opened: number
  acknowledged: number
  resolved: number
  resolved_alone: number
  flapping: number
  ack_median: number | null
  ack_p90: number | null
  resolve_median: number | null
  resolve_p90: number | null
}

/**
 * Returns the statistics of a window. Percentiles are by nearest rank. Time to acknowledge counts from
 * the record of the opening, which is after its slot.
 */
export async function readStats(
  db: IncidentDb,
  project_id: string,
  { from, to }: AlertWindow,
): Promise<IncidentStats | undefined> {
  const rank = (share: number, column: string) =>
    sql`percentile_disc(${share}::float) within group (order by ${sql.ref(column)})::float`
  const { rows } = await sql<IncidentStats>`
    with opened as (
      select state, moved,
        case when first_acknowledged_at is not null then greatest(0, extract(epoch from
          first_acknowledged_at - coalesce((
            select recorded_at from incident_events as event
            where event.incident_id = incidents.id and event.seq = 1
          ), opened_at)) * 1000) end as ack_ms,
        case when state = 'resolved'
          then extract(epoch from resolved_at - opened_at) * 1000 end as resolve_ms,
        flapping or exists (
          select from incident_events as event
          where event.incident_id = incidents.id and event.type = 'flapping'
        ) as flapped
      from incidents
      where project_id = ${project_id} and not shadow
        and opened_at >= ${from} and opened_at < ${to}
    )
    select count(*)::int as opened, count(ack_ms)::int as acknowledged,
      count(resolve_ms)::int as resolved,
      (count(*) filter (where state = 'resolved' and not moved))::int as resolved_alone,
      (count(*) filter (where flapped))::int as flapping,
      ${rank(0.5, 'ack_ms')} as ack_median, ${rank(0.9, 'ack_ms')} as ack_p90,
      ${rank(0.5, 'resolve_ms')} as resolve_median, ${rank(0.9, 'resolve_ms')} as resolve_p90
    from opened`.execute(db)
  return rows[0]
}
