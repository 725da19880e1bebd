import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { newId } from '../../src/kernel/ids.ts'

const wait_ms_max = 60_000
/** Between two jobs all workers are idle again; the pauses differ, so that no poll is in step. */
const pause_ms = 2_300

/**
 * Queues jobs of an unknown project one by one, as a route does, and returns how long each was
 * queued until a worker claimed it, in ms.
 */
export async function queuedJobLatencies(
  client: pg.Client,
  { project_id, jobs }: { project_id: string; jobs: number },
): Promise<number[]> {
  const latencies: number[] = []
  for (let at = 0; at < jobs; at += 1) {
    await sleep(pause_ms + at * 137)
    const id = newId()
    await client.query(
      `insert into job_runs (id, project_id, kind, params, requested_by, created_at)
       values ($1, $2, 'retention_dry_run', $3, 'bench', clock_timestamp())`,
      [id, project_id, JSON.stringify({ rules: [] })],
    )
    latencies.push(await claimedAfter(client, id))
  }
  return latencies
}

async function claimedAfter(client: pg.Client, id: string): Promise<number> {
  const late = performance.now() + wait_ms_max
  while (performance.now() < late) {
    const { rows } = await client.query<{ waited_ms: number | null }>(
      `select (extract(epoch from started_at - created_at) * 1000)::float8 as waited_ms
       from job_runs where id = $1`,
      [id],
    )
    const waited_ms = rows[0]?.waited_ms
    if (waited_ms !== null && waited_ms !== undefined) return Math.round(waited_ms)
    await sleep(50)
  }
  throw new Error(`no worker claimed job ${id} within ${wait_ms_max} ms`)
}
