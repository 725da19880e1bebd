import { randomBytes, randomUUID } from 'node:crypto'
import { traceIdFrom } from '../../src/kernel/ids.ts'
import { sleep } from '../../src/kernel/time.ts'
import { contentOf, dataOf } from './chat-stream.ts'

/** Behaviour of the clients of a load. Together they send at most `calls_max` calls. */
export type LoadOptions = {
  /** Address of the proxy, read before each call because a restarted proxy may have another. */
  base_url: () => string
  project_key: string
  /** Prefix of every task, conversation and marker, which identifies the run. */
  run: string
  clients: number
  calls_max: number
  /** Pause between two calls of a client. */
  pause_ms?: number
  /** Bytes added to each question; the answer, an echo, grows by the same amount. */
  padding_bytes?: number
}

/** A client's view of one of its calls. */
export type ClientCall = {
  /** Name of the call; part of the question and, as the provider echoes, of the answer. */
  marker: string
  task_id: string
  conversation: string
  /** Known before the call is sent, from its `traceparent`. */
  trace_id: string
  streamed: boolean
  /** 0 if no response head arrived. */
  status: number
  /** True if the whole answer arrived, including the marker. */
  complete: boolean
  /** Value of X-Trace-ID, '' if missing. */
  answered_trace_id: string
  ended_ms: number
}

/** Running clients. */
export type Load = {
  /** Every call that has ended, in order of its end. */
  readonly calls: readonly ClientCall[]
  /** Lets the calls in progress end; resolves with all calls. */
  stop(): Promise<readonly ClientCall[]>
}

const callsOfTask = 8
const conversations = 3
const call_ms_max = 20_000
/** Avoids a tight loop while the proxy is unavailable. */
const awayPauseMs = 200

/**
 * Starts clients that send chat completions one after another, every second one streamed, each
 * client in its own task that changes every few calls. Failed calls are not repeated.
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
      await sleep(call.status === 0 ? awayPauseMs : pause_ms, stopping.signal)
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
    // Its status and `complete` show how far it came.
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
