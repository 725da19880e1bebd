import { writeSync } from 'node:fs'
import type { Kind } from '../../../src/operator/index.ts'
import type { LeaderElectionSettings } from '../../../src/operator/runtime/operator-settings.ts'
import { noteKind } from './note-kind.ts'
import { startTestOperator } from './operator.ts'

/**
 * An operator as a process of its own. It takes its settings as JSON, writes a line of JSON for each
 * write, and is gone at once when `exit_at_write` of them have taken effect: as by SIGKILL, before
 * it knows their answer. SIGTERM stops it with status 0; it ends with 1 when it can't go on.
 */
export type OperatorProcessOptions = {
  kubeconfig: string
  service_url: string
  service_key?: string
  kinds: 'notes' | 'product'
  namespaces: readonly string[]
  times?: number
  leader_election?: LeaderElectionSettings
  exit_at_write?: number
}

const options: OperatorProcessOptions = JSON.parse(process.argv[2] ?? '{}')
const { kubeconfig, service_url, service_key, namespaces, times, leader_election } = options
let writes = 0

const { operator, stop } = startTestOperator({
  ...{ kubeconfig, service_url, kinds: await kindsOf(options.kinds) },
  ...(service_key !== undefined && { service_key }),
  ...(times !== undefined && { times }),
  settings: { namespaces, leader_election },
  onWrite: (what) => {
    writes += 1
    // At once, since the process may be gone right after.
    writeSync(1, `${JSON.stringify({ write: writes, what })}\n`)
    if (writes === options.exit_at_write) process.kill(process.pid, 'SIGKILL')
  },
})

process.once('SIGTERM', () => void stop().then(() => process.exit(0)))
process.stdout.write(`${JSON.stringify({ started: process.pid })}\n`)
const failure = await operator.failed
process.stdout.write(`${JSON.stringify({ failed: failure.message })}\n`)
process.exit(1)

async function kindsOf(name: OperatorProcessOptions['kinds']): Promise<readonly Kind[]> {
  if (name === 'notes') return [noteKind]
  const { kinds } = await import('../../../src/operator/kinds/index.ts')
  return kinds
}
