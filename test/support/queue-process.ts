import { openSqliteQueue } from '../../src/platform/queue/index.ts'
import { consumeOptions, keepingLogger, message } from './queues.ts'

/**
 * A process that opens a queue file and works on it until it is killed. Arguments: the file, and
 * `publish` (prints the id of each message after its confirmation) or `hold` (receives all
 * messages, prints the ids, and settles none).
 */
const [path = '', work = ''] = process.argv.slice(2)
const queue = await openSqliteQueue({ path, bytes_max: 1_000_000_000, logger: keepingLogger() })

if (work === 'publish') {
  const data = Buffer.alloc(3_000, 'x')
  const publishOn = async (lane: number) => {
    for (let i = 0; ; i += 1) {
      const id = `m-${lane}-${i}`
      await queue.publish(message(id, data, `ingest.project-${lane}`))
      process.stdout.write(`${id}\n`)
    }
  }
  await Promise.all(Array.from({ length: 16 }, (_, lane) => publishOn(lane)))
} else {
  await queue.consume(consumeOptions, async (batch) => {
    process.stdout.write(`${batch.map(({ id }) => id).join('\n')}\n`)
    await new Promise(() => undefined)
  })
}
