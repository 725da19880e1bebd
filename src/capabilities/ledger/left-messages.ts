import { type OutgoingMessage, type Queue, QueueUnavailable } from '../../platform/queue/index.ts'
import { type IngestTables, type Kysely, sql } from '../../platform/relational/index.ts'
import { runInProject } from '../../platform/tenancy/index.ts'
import type { Chore } from '../jobs/index.ts'

type Db = Kysely<IngestTables>

/** Keeps a message of kind `ledger` that an edge could not publish before it ended. Safe to repeat. */
export async function keepLedgerMessage(
  db: Db,
  { id, subject, data }: OutgoingMessage,
): Promise<void> {
  const project_id = subject.slice(subject.indexOf('.') + 1)
  await runInProject(project_id, () =>
    sql`insert into left_ledger_messages (id, project_id, data)
      values (${id}, ${project_id}::uuid, ${Buffer.from(data)})
      on conflict (id) do nothing`.execute(db),
  )
}

const messages_max = 100

/**
 * Returns the chore that publishes the messages that edges have left. Their items are then pending, and
 * are lost if the records do not come either.
 */
export function leftLedgerChore({ db, queue }: { db: Db; queue: Pick<Queue, 'publish'> }): Chore {
  return {
    name: 'left_ledger_messages',
    every_ms: 60_000,
    reason: 'publishes ledger messages that edges of all projects have left',
    run: async (signal) => {
      for (;;) {
        signal.throwIfAborted()
        const published = await publishSome(db, queue)
        if (published < messages_max) return
      }
    },
  }
}

type LeftMessage = { id: string; project_id: string; data: Buffer }

/** A message is deleted after it was published; its id keeps a repeated one from counting twice. */
async function publishSome(db: Db, queue: Pick<Queue, 'publish'>): Promise<number> {
  const { rows } = await sql<LeftMessage>`
    select id, project_id, data from left_ledger_messages
    order by left_at, id limit ${messages_max}`.execute(db)
  for (const { id, project_id, data } of rows) {
    try {
      await queue.publish({ id, subject: `ledger.${project_id}`, data })
    } catch (error) {
      if (error instanceof QueueUnavailable) return 0
      throw error
    }
    await sql`delete from left_ledger_messages where id = ${id}`.execute(db)
  }
  return rows.length
}
