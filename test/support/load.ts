import { randomBytes, randomUUID } from 'node:crypto'
import { traceIdFrom } from '../../src/kernel/ids.ts'
import { sleep } from '../../src/kernel/time.ts'
import { contentOf, dataOf } from './chat-stream.ts'

/** What the clients of a load do. Together they send no more than `calls_max` calls. */
export type LoadOptions = {
  /** Where the proxy is; asked before each call, as a restarted one may be elsewhere. */
  base_url: () => string
  project_key: string
  /** Begins every task, conversation and marker, so that a run finds its own again. */
  run: string
  clients: number
  calls_max: number
  /** Between two calls of a client. */
  pause_ms?: number
  /** Added to each question; the answer, an echo, is longer by as much. */
  padding_bytes?: number
}

/** What a client saw of one of its calls. */
export type ClientCall = {
  /** Names the call; it stands in the question and, as the provider echoes, in the answer. */
  marker: string
  task_id: string
  conversation: string
  /** Known before the call is sent: its `traceparent` says it. */
  trace_id: string
  streamed: boolean
  /** 0 when no head of an answer came. */
  status: number
  /** True when the whole answer came, with the marker in it. */
  complete: boolean
  /** What X-Trace-ID said, '' without one. */
  answered_trace_id: string
  ended_ms: number
}

/** Clients at work. */
export type Load = {
  /** Every call that has ended, in the order of their ends. */
  readonly calls: readonly ClientCall[]
  /** Lets the calls under way end; resolves with all of them. */
  stop(): Promise<readonly ClientCall[]>
}

const callsOfTask = 8
const conversations = 3
const call_ms_max = 20_000
/** A proxy that is away is not asked in a tight loop. */
const awayPause_ms = 200

/**
 * Starts clients that send chat completions one after the other, every second one streamed, each
 * client in a task of its own that changes every few calls. What fails is not sent again.
 */
export function startLoad(options: LoadOptions): Load {
  const calls: ClientCall[] = []
  const stopping = new AbortController()
  const { clients, calls_max, pause_ms = 100 } = options
  let begun = 0
  const work = async (client: number) => {
    for (let number = 0; !stopping.signal.aborted && begun < calls_max; number += 1) {
      begun += 1
      const call = await oneCall(options, { client, number })
      calls.push(call)
      await sleep(call.status === 0 ? awayPause_ms : pause_ms, stopping.signal)
    }
  }
  const ended = Promise.all(Array.from({ length: clients }, (_, client) => work(client)))
  return {
    calls,
    stop: async () => {
      stopping.abort()
      await ended
      return calls
    },
  }
}

async function oneCall(
  options: LoadOptions,
  { client, number }: { client: number; number: number },
): Promise<ClientCall> {
  const trace_hex = randomUUID().replaceAll('-', '')
  const task_id = `${options.run}-task-${client}-${Math.floor(number / callsOfTask)}`
  const call: ClientCall = {
    marker: `${task_id}/${number}`,
    task_id,
    conversation: `${options.run}-conversation-${client % conversations}`,
    trace_id: traceIdFrom(trace_hex) ?? '',
    streamed: number % 2 === 1,
    status: 0,
    complete: false,
    answered_trace_id: '',
    ended_ms: 0,
  }
  const traceparent = `00-${trace_hex}-${randomBytes(8).toString('hex')}-01`
  try {
    await send(options, call, traceparent)
  } catch {
    // Its status and `complete` tell how far it came.
  }
  call.ended_ms = Date.now()
  return call
}

async function send(options: LoadOptions, call: ClientCall, traceparent: string): Promise<void> {
  const answer = await fetch(`${options.base_url()}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': options.project_key,
      authorization: 'Bearer provider-key-of-the-load',
      'x-task-id': call.task_id,
      'x-task-name': options.run,
      'x-conversation-id': call.conversation,
      traceparent,
    },
    body: JSON.stringify({
      model: 'gpt-4.1-mini',
      messages: [{ role: 'user', content: call.marker + '.'.repeat(options.padding_bytes ?? 0) }],
      ...(call.streamed && { stream: true }),
    }),
    signal: AbortSignal.timeout(call_ms_max),
  })
  call.status = answer.status
  call.answered_trace_id = answer.headers.get('x-trace-id') ?? ''
  const body = Buffer.from(await answer.arrayBuffer())
  call.complete = answer.status === 200 && isWhole(body, call)
}

function isWhole(body: Buffer, { streamed, marker }: ClientCall): boolean {
  if (streamed) return dataOf(body).at(-1) === '[DONE]' && contentOf(body).includes(marker)
  return JSON.parse(body.toString()).choices[0].message.content.includes(marker)
}
