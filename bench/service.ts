import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { startCluster } from '../test/support/cluster.ts'
import { question } from './load.ts'
import type { Target } from './rounds.ts'

const run = promisify(execFile)

/**
 * The product's own `proxy` role with everything on: keys from PostgreSQL, capture, frames
 * published to a real nats-server. It runs on processor 0, its servers on processor 1; worker and
 * api are stopped, so that nothing consumes the queue meanwhile.
 */
export async function startProxyRole(
  upstream: string,
): Promise<{ target: Target; stop(): Promise<void> }> {
  const cluster = await startCluster({ env: { LOOPTRACE_OPENAI_BASE_URL: `${upstream}/v1` } })
  await cluster.worker.stop()
  await cluster.api.stop()
  const { pid, base_url } = cluster.proxy
  await pin(pid, 0)
  await pin(cluster.postgres.server().pid, 1)
  const key = cluster.login.project_key
  return {
    target: {
      name: 'looptrace proxy',
      pid,
      port: Number(new URL(base_url).port),
      question: (body_bytes, streamed) => question(body_bytes, { streamed, key }),
    },
    stop: () => cluster.stop(),
  }
}

/** Moves every thread of a process to one processor. */
export async function pin(pid: number, cpu: number): Promise<void> {
  await run('taskset', ['--all-tasks', '--cpu-list', '--pid', String(cpu), String(pid)])
}
