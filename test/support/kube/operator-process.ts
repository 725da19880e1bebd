import { writeSync } from 'node:fs'
import type { Kind, OperatorSettings } from '../../../src/operator/index.ts'
import { noteKind } from './note-kind.ts'
import { startTestOperator } from './operator.ts'

/**
 * An operator as a separate process. It gets its settings as JSON, writes a line of JSON for each
 * write, and exits at once after `exit_at_write` of them have taken effect: as by SIGKILL, before
 * it gets their answer. SIGTERM stops it with status 0; it exits with 1 when it fails.
 */
export type OperatorProcessOptions = {
  kubeconfig: string
  service_url: string
  service_key?: string
  kinds: 'notes' | 'product'
  namespaces: readonly string[]
  times?: number
  leader_election?: OperatorSettings['leader_election']
  /** Settings of one of several installations. */
  installed?: Pick<OperatorSettings, 'class_name' | 'presence'>
  exit_at_write?: number
}

const options: OperatorProcessOptions = JSON.parse(process.argv[2] ?? '{}')
const { kubeconfig, service_url, service_key, namespaces, times, leader_election, installed } =
  options
let writes = 0

const { operator, stop } = startTestOperator({
  ...{ kubeconfig, service_url, kinds: await kindsOf(options.kinds) },
  ...(service_key !== undefined && { service_key }),
  ...(times !== undefined && { times }),
  settings: { namespaces, leader_election, ...installed },
  onWrite: (what) => {
    writes += 1
    // Written synchronously, because the process may exit right after.
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
