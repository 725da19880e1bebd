import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'
import { sleep } from '../../src/kernel/time.ts'

/** A call of the product API. */
export type Call = { method: 'GET' | 'PUT' | 'POST'; url: string; payload?: object }

/** Calls for a time: at a rate, or as fast as a number of callers can, from the first again. */
type Load = { origin: string; calls: readonly Call[]; slice_ms: number } & (
  | { per_minute: number }
  | { callers: number }
)

/** A process that sends calls over HTTP, so that its work does not count to the service. */
export type Caller = {
  /** Resolves with the times of the answered calls, in ms. */
  send(load: Load): Promise<number[]>
  stop(): Promise<void>
}

/** Starts the process. It sends `headers` with each call. */
export function startCaller(headers: Record<string, string>): Caller {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(headers)])
  return {
    send: async (load) => {
      const answered = once(child, 'message')
      child.send(load)
      const [{ latencies, error }] = (await answered) as [{ latencies: number[]; error?: string }]
      if (error !== undefined) throw new Error(error)
      return latencies
    },
    stop: async () => {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

/** More connections than calls that wait for an answer at a time. */
const connections = 64

function runCaller(headers: Record<string, string>): void {
  const pools = new Map<string, Pool>()
  const call = async (origin: string, { method, url: path, payload }: Call): Promise<number> => {
    const pool = pools.get(origin) ?? new Pool(origin, { connections })
    pools.set(origin, pool)
    const started = performance.now()
    const { statusCode, body } = await pool.request({
      method,
      path,
      headers: { ...headers, 'content-type': 'application/json' },
      body: payload === undefined ? null : JSON.stringify(payload),
    })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`${path}: ${text}`)
    return performance.now() - started
  }
  process.on('message', (load: Load) => {
    const sent = 'callers' in load ? sendFast(load, call) : sendAtRate(load, call)
    sent.then(
      (latencies) => process.send?.({ latencies }),
      (error: unknown) => process.send?.({ latencies: [], error: String(error) }),
    )
  })
  process.on('disconnect', () => process.exit())
}

type Send = (origin: string, call: Call) => Promise<number>

/** Sends calls at their times, whatever the answers. */
async function sendAtRate(load: Load & { per_minute: number }, send: Send): Promise<number[]> {
  const { origin, calls, per_minute, slice_ms } = load
  const pending: Promise<number>[] = []
  const started = performance.now()
  for (;;) {
    const at_ms = performance.now() - started
    if (at_ms >= slice_ms) return Promise.all(pending)
    while (pending.length < (at_ms / 60_000) * per_minute) {
      const answered = send(origin, at(calls, pending.length))
      answered.catch(() => undefined)
      pending.push(answered)
    }
    await sleep(1)
  }
}

async function sendFast(load: Load & { callers: number }, send: Send): Promise<number[]> {
  const { origin, calls, callers, slice_ms } = load
  const until = performance.now() + slice_ms
  const latencies: number[] = []
  let sent = 0
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < until) latencies.push(await send(origin, at(calls, sent++)))
    }),
  )
  return latencies
}

function at(calls: readonly Call[], index: number): Call {
  const call = calls[index % calls.length]
  if (call === undefined) throw new Error('there are no calls')
  return call
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  runCaller(JSON.parse(process.argv[2] ?? '{}'))
}
