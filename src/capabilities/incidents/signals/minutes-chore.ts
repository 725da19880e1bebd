import type { Columnar } from '../../../platform/columnar/index.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import { runInProject } from '../../../platform/tenancy/index.ts'
import type { Chore } from '../../jobs/index.ts'
import type { IncidentDb } from '../ports.ts'
import type { Rule } from '../rules/rule.ts'
import { readsMinutes } from './batches.ts'
import { refreshDefaults, refreshMinutes } from './minutes.ts'

type ChoreOptions = {
  db: IncidentDb
  columnar: Pick<Columnar, 'ofProject' | 'acrossProjects'>
  logger: Logger
}

/**
 * Returns the chore that keeps the sums of minutes of projects whose rules have windows above an
 * hour. The first run after such a rule was created fills the minutes of the stored history; until
 * then, its windows are read from observations.
 */
export function signalMinutesChore({ db, columnar, logger }: ChoreOptions): Chore {
  return {
    name: 'signal_minutes',
    every_ms: 60_000,
    reason: 'finds the projects whose rules have long windows',
    run: async (signal) => {
      for (const project_id of await projectsWithLongWindows(db)) {
        signal.throwIfAborted()
        const refresh = () => refreshMinutes(columnar, project_id, { ...refreshDefaults, signal })
        await runInProject(project_id, refresh).catch((error: unknown) => {
          signal.throwIfAborted()
          logger.warn({ err: error, project_id }, 'refreshing the minutes of signals failed')
        })
      }
    },
  }
}

async function projectsWithLongWindows(db: IncidentDb): Promise<string[]> {
  const rows = await db
    .selectFrom('incident_rules')
    .select(['project_id', 'spec'])
    .where('suspended', '=', false)
    .where('kind', '<>', 'event')
    .orderBy('project_id')
    .execute()
  const needed = rows.filter(({ spec }) => readsMinutes(spec as unknown as Rule))
  return [...new Set(needed.map(({ project_id }) => project_id))]
}
