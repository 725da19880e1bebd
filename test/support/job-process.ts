import { setTimeout as wait } from 'node:timers/promises'
import { openJobDb, startWorker } from './job-workers.ts'

/**
 * A process that works on jobs of kind `test` until it is killed. It gets the database's address;
 * each step of a job takes a moment and prints its number once it is recorded.
 */
const { db } = openJobDb(process.argv[2] ?? '')

startWorker(db, [
  {
    kind: 'test',
    run: async (job, { progress }) => {
      for (let step = Number(job.progress?.['step'] ?? 0) + 1; ; step += 1) {
        await wait(20)
        await progress({ step })
        process.stdout.write(`${step}\n`)
      }
    },
  },
])
