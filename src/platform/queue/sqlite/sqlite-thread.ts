import { parentPort, workerData } from 'node:worker_threads'
import type {
  NumberedAnswer,
  NumberedCall,
  SqliteThreadOptions,
  ThreadGreeting,
} from './sqlite-calls.ts'
import { failureOf, GroupCommit } from './sqlite-group-commit.ts'
import { SqliteStore } from './sqlite-store.ts'

/** Runs the thread that owns a queue file. Started by `sqlite-thread-client.ts` only. */
function serve(port: NonNullable<typeof parentPort>): void {
  const say = (greeting: ThreadGreeting) => port.postMessage(greeting)
  try {
    const store = new SqliteStore(workerData as SqliteThreadOptions)
    const commits = new GroupCommit(store, {
      now_ms: () => Date.now(),
      answer: (answers) => port.postMessage(answers, payloadsOf(answers)),
      closed: () => port.close(),
    })
    port.on('message', (calls: NumberedCall[]) => commits.add(calls))
    say({ opened: true })
  } catch (error) {
    say({ opened: false, failure: failureOf(error) })
  }
}

/** Lists buffers to transfer without a copy. SQLite allocates one buffer per message. */
function payloadsOf(answers: readonly NumberedAnswer[]): ArrayBuffer[] {
  return answers.flatMap((answer) => {
    if (!('value' in answer) || !Array.isArray(answer.value)) return []
    return answer.value.flatMap((item) =>
      'data' in item && item.data.buffer instanceof ArrayBuffer ? [item.data.buffer] : [],
    )
  })
}

if (parentPort !== null) serve(parentPort)
