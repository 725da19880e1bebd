import { z } from 'zod'
import { sealReads } from '../../src/capabilities/audit/reads/seal-reads.ts'
import { sleep } from '../../src/kernel/time.ts'
import { defineRoute } from '../../src/platform/http/index.ts'
import { startAccessApp } from './access-app.ts'

/**
 * A process that answers reads of content, and seals them often, until it is killed. It gets the
 * address of the database and the folder of journals, separated by a space, and prints its port.
 */
const seal_every_ms = 40

const content = defineRoute({
  method: 'GET',
  url: '/content/{task_id}',
  id: 'readContent',
  summary: 'Answers content',
  audit: 'content',
  auth: 'jwt_or_key',
  scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
  params: z.strictObject({ task_id: z.string() }),
  reply: z.unknown(),
  errors: [],
  handle: async ({ params }) => {
    await sleep(Number(params.task_id.at(-1)))
    return params
  },
})

const [database_url = '', journal_folder = ''] = (process.argv[2] ?? '').split(' ')
const app = await startAccessApp({ database_url, journal_folder, routes: [content] })
const port = await app.server.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${port}\n`)
for (;;) {
  await sealReads(app.relational.db, app.clock)
  await sleep(seal_every_ms)
}
