import { severities } from '../../../model/severity.ts'
import { sql } from '../../../platform/relational/index.ts'
import type { Metrics } from '../../../platform/telemetry/index.ts'
import type { IncidentDb } from '../ports.ts'

/** Registers gauges of stored incidents and evaluations; call once per process. */
export function watchIncidents(db: IncidentDb, metrics: Metrics): void {
  metrics.gauge({
    name: 'looptrace_incidents_firing',
    help: 'Unresolved incidents of all projects by severity, without shadow rules, over all processes.',
    labels: ['severity'],
    collect: async (gauge) => {
      const counts = await countFiring(db)
      for (const severity of severities) gauge.set({ severity }, counts.get(severity) ?? 0)
    },
  })
  metrics.gauge({
    name: 'looptrace_incident_slot_lag_seconds',
    help: 'Age of the oldest last slot of the rules that are evaluated, over all processes.',
    collect: async (gauge) => gauge.set(await oldestSlot(db)),
  })
}

async function countFiring(db: IncidentDb): Promise<Map<string, number>> {
  const { rows } = await sql<{ severity: string; incidents: number }>`
    select severity, count(*)::int as incidents from incidents
    where state <> 'resolved' and not shadow group by severity
  `.execute(db)
  return new Map(rows.map(({ severity, incidents }) => [severity, incidents]))
}

async function oldestSlot(db: IncidentDb): Promise<number> {
  const { rows } = await sql<{ lag_s: number }>`
    select coalesce(greatest(0, extract(epoch from now() - min(last_slot))), 0)::float8 as lag_s
    from rule_evaluations join incident_rules on id = rule_id
    where not suspended and kind <> 'event'
  `.execute(db)
  return rows[0]?.lag_s ?? 0
}
