import { newId } from '../../../kernel/ids.ts'
import { type Clock, sleep } from '../../../kernel/time.ts'
import type { Kysely, TaskTables, Transaction } from '../../../platform/relational/index.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import type { ObservationStore } from '../../storage/index.ts'
import type { IngestMeters } from '../meters.ts'
import { writeConversations } from './conversation-store.ts'
import { type ClaimedRollUp, claimLarge, settleLarge } from './large-rollups.ts'
import { lockTasks, uncounted, writeTasks } from './task-store.ts'
import { nsFromIso } from './touched.ts'

/** What large roll-ups are refreshed with. */
export type RefreshPorts = { db: Kysely<TaskTables>; store: ObservationStore; clock: Clock }

/** How large roll-ups are refreshed; every one has a default in `defaultIngestSettings`. */
export type RefreshSettings = {
  /** How often it is looked whether one is due. */
  refresh_poll_ms: number
  /** A refresh that has not ended by then is begun again by whoever looks next. */
  refresh_lease_ms: number
  /** Between two refreshes of one roll-up, at least; and this many times what the last one took. */
  refresh_rest_ms: number
  refresh_rest_factor: number
}

/** Refreshes large roll-ups as they become due. `stop` lets the one under way end. */
export function startRefreshing(
  ports: RefreshPorts & {
    logger: Logger
    meters: Pick<IngestMeters, 'refreshed'>
    settings: RefreshSettings
  },
): { stop: () => Promise<void> } {
  const { logger, meters, settings } = ports
  const stopping = new AbortController()
  const loop = async () => {
    while (!stopping.signal.aborted) {
      try {
        if (await refreshOne(ports, settings)) {
          meters.refreshed.inc({ result: 'refreshed' })
          continue
        }
      } catch (error) {
        meters.refreshed.inc({ result: 'failed' })
        logger.warn({ err: error }, 'a large roll-up could not be refreshed; it stays due')
      }
      await sleep(settings.refresh_poll_ms, stopping.signal)
    }
  }
  const ended = loop()
  return {
    stop: async () => {
      stopping.abort()
      await ended
    },
  }
}

/**
 * Refreshes the roll-up that has been due the longest; false when none is. The observations are
 * read without holding a lock: what is stored meanwhile has marked it, and leaves it due.
 */
export async function refreshOne(ports: RefreshPorts, settings: RefreshSettings): Promise<boolean> {
  const { db, clock } = ports
  const claim = newId()
  const lease_ms = settings.refresh_lease_ms
  const claimed = await db.transaction().execute((trx) => claimLarge(trx, { claim, lease_ms }))
  if (claimed === undefined) return false
  const start_ms = clock.now_ms()
  const write = await recomputed(ports, claimed)
  const took_ms = clock.now_ms() - start_ms
  const rest_ms = Math.max(settings.refresh_rest_ms, took_ms * settings.refresh_rest_factor)
  await db.transaction().execute(async (trx) => {
    // In this order: who marks one as touched holds the task's row by then.
    await write(trx)
    if (!(await settleLarge(trx, claimed, { rest_ms }))) throw new ClaimLost()
  })
  return true
}

/** It took longer than the lease: somebody else has begun, whose outcome is newer. */
class ClaimLost extends Error {
  override readonly name = 'ClaimLost'
}

type Write = (trx: Transaction<TaskTables>) => Promise<void>

async function recomputed({ db, store }: RefreshPorts, claimed: ClaimedRollUp): Promise<Write> {
  const { project_id, kind, id } = claimed
  const started_at = await startOf(db, claimed)
  if (started_at === undefined) return noWork
  const from = nsFromIso(started_at)
  if (kind === 'conversation') {
    const hint = { conversation_id: id, from }
    const [rollup] = await store.conversationRollups(project_id, [hint])
    return (trx) => (rollup ? writeConversations(trx, [{ project_id, rollup }]) : noWork())
  }
  const [rollup] = await store.taskRollups(project_id, [{ task_id: id, from }])
  return async (trx) => {
    const [task] = await lockTasks(trx, [{ project_id, task_id: id }])
    if (!(task && rollup)) return
    const implicit = task.implicit && rollup.implicit
    await writeTasks(trx, [{ ...task, project_id, rollup: uncounted(rollup), implicit }])
  }
}

async function noWork(): Promise<void> {}

/** When its first call began; undefined when it is gone. */
async function startOf(
  db: Kysely<TaskTables>,
  { project_id, kind, id }: ClaimedRollUp,
): Promise<string | undefined> {
  const row =
    kind === 'task'
      ? await db
          .selectFrom('tasks')
          .select('started_at')
          .where('project_id', '=', project_id)
          .where('task_id', '=', id)
          .executeTakeFirst()
      : await db
          .selectFrom('conversations')
          .select('started_at')
          .where('project_id', '=', project_id)
          .where('conversation_id', '=', id)
          .executeTakeFirst()
  return row?.started_at
}
