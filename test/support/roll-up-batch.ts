import { type RollUpPorts, rollUp } from '../../src/capabilities/ingest/roll-up/roll-up.ts'
import type { Touched } from '../../src/capabilities/ingest/roll-up/touched.ts'
import { runInProjects } from '../../src/platform/tenancy/index.ts'

/** Rolls up the tasks and conversations of stored rows, as a worker does for a batch. */
export async function rollUpBatch(ports: RollUpPorts, touched: Touched): Promise<void> {
  const rows = [...touched.tasks, ...touched.conversations]
  await runInProjects(new Set(rows.map(({ project_id }) => project_id)), () =>
    ports.db.transaction().execute((trx) => rollUp(trx, ports, touched)),
  )
}
