import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { proportionalMemory } from './process-usage.ts'

/** The start of role `all`, and its cost without calls. */
export type StartUp = { first_answer_ms: number; idle_bytes: number }

const settle_ms = 15_000
const attempts_max = 3_000
const attemptEveryMs = 20

/**
 * Starts role `all` in a folder and measures the time to the first completion that it accepts (the
 * provider refuses connections, so the answer is the proxy's own), and the memory of all its
 * processes after an idle time.
 */
export async function measureStart(directory: string, port: number): Promise<StartUp> {
  const started_ms = performance.now()
  const child = spawn(process.execPath, ['src/main.ts', 'all'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      LOOPTRACE_DATA_DIRECTORY: directory,
      LOOPTRACE_DEMO: 'false',
      LOOPTRACE_HTTP_PORT: String(port),
      LOOPTRACE_MANAGEMENT_PORT: '0',
      LOOPTRACE_OTLP_GRPC_PORT: '0',
      LOOPTRACE_OPENAI_BASE_URL: 'http://127.0.0.1:1/v1',
    },
    stdio: 'ignore',
  })
  await firstAnswer(directory, port)
  const first_answer_ms = performance.now() - started_ms
  await sleep(settle_ms)
  const pids = await processTree(child.pid ?? 0)
  const idle_bytes = await proportionalMemory(pids)
  child.kill('SIGTERM')
  await once(child, 'exit')
  return { first_answer_ms, idle_bytes }
}

async function firstAnswer(directory: string, port: number): Promise<void> {
  for (let attempt = 0; attempt < attempts_max; attempt += 1) {
    const status = await ask(directory, port).catch(() => undefined)
    if (status === 502) return
    await sleep(attemptEveryMs)
  }
  throw new Error('role all took no completion in time')
}

async function ask(directory: string, port: number): Promise<number> {
  const login = JSON.parse(await readFile(`${directory}/first-login.json`, 'utf8'))
  const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': login.project_key,
      authorization: 'Bearer nobody',
    },
    body: '{"model":"m","messages":[]}',
  })
  await answer.arrayBuffer()
  return answer.status
}

async function processTree(root: number): Promise<number[]> {
  const pids = [root]
  for (const pid of pids) {
    const path = `/proc/${pid}/task/${pid}/children`
    const children = await readFile(path, 'latin1').catch(() => '')
    pids.push(...children.split(' ').filter(Boolean).map(Number))
  }
  return pids
}
