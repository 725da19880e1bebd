import { connect, type Socket } from 'node:net'

/** A request as bytes, and a check that its answer is complete. */
export type Question = { bytes: Buffer; streamed: boolean }

/** The key for targets that do not look keys up. */
const benchKey = 'lt_benchkey_0123456789abcdefghijABCDEFGHIJ'

/** A chat completion whose body has `body_bytes` bytes. */
export function question(
  body_bytes: number,
  { streamed, key = benchKey }: { streamed: boolean; key?: string },
): Question {
  const start = `{"model":"bench-1",${streamed ? '"stream":true,' : ''}"temperature":0.2,"messages":[`
  const turns: string[] = []
  let size = start.length + 2
  while (size < body_bytes - 120) {
    const turn = JSON.stringify({
      role: turns.length % 2 === 0 ? 'user' : 'assistant',
      content: `Where is parcel ${turns.length}? `.repeat(16).slice(0, body_bytes - size - 40),
    })
    turns.push(turn)
    size += turn.length + 1
  }
  const body = `${start}${turns.join(',')}]}`.padEnd(body_bytes)
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    'Host: 127.0.0.1',
    'Accept: application/json',
    'Content-Type: application/json',
    'User-Agent: OpenAI/JS 7.55.0',
    'X-Stainless-Lang: js',
    'X-Stainless-Runtime: node',
    'X-Stainless-Retry-Count: 0',
    'Authorization: Bearer sk-bench-0123456789abcdef',
    `X-API-Key: ${key}`,
    'X-Task-ID: task-42',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
  return { bytes: Buffer.from(head), streamed }
}

/** One connection that sends one request at a time. */
export class Connection {
  readonly #socket: Socket
  #done: ((first_ms: number) => void) | undefined
  #failed: ((error: Error) => void) | undefined
  #received = 0
  #expected = -1
  #streamed = false
  #first_ms = 0

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.on('data', (bytes) => this.#take(bytes))
    this.#socket.on('error', (error) => this.#failed?.(error))
    this.#socket.on('close', () => this.#failed?.(new Error('the connection closed')))
  }

  /** Sends once; resolves with the time of the first content, by `performance.now()`. */
  ask({ bytes, streamed }: Question): Promise<number> {
    this.#received = 0
    this.#expected = -1
    this.#streamed = streamed
    this.#first_ms = 0
    return new Promise((resolve, reject) => {
      this.#done = resolve
      this.#failed = reject
      this.#socket.write(bytes, (error) => error && reject(error))
    })
  }

  close(): void {
    this.#failed = undefined
    this.#socket.destroy()
  }

  #take(bytes: Buffer): void {
    this.#received += bytes.length
    if (this.#streamed) {
      if (this.#first_ms === 0 && bytes.includes('data: ')) this.#first_ms = performance.now()
      if (bytes.subarray(-5).toString('latin1') === '0\r\n\r\n') this.#done?.(this.#first_ms)
      return
    }
    if (this.#expected === -1) {
      const head = bytes.indexOf('\r\n\r\n')
      const text = bytes.toString('latin1', 0, head)
      if (!text.startsWith('HTTP/1.1 200')) throw new Error(bytes.toString())
      this.#expected = head + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1])
      this.#first_ms = performance.now()
    }
    if (this.#received >= this.#expected) this.#done?.(this.#first_ms)
  }
}

/** Keeps `connections` busy for `duration_ms`; resolves with the number of answers. */
export async function closedLoop(
  connections: readonly Connection[],
  asked: Question,
  duration_ms: number,
): Promise<number> {
  const end_ms = performance.now() + duration_ms
  let answers = 0
  await Promise.all(
    connections.map(async (connection) => {
      while (performance.now() < end_ms) {
        await connection.ask(asked)
        answers += 1
      }
    }),
  )
  return answers
}

/** Sends `per_second` requests a second, whatever the answers; resolves with all latencies. */
export async function openLoop(
  connections: Connection[],
  asked: Question,
  { per_second, duration_ms }: { per_second: number; duration_ms: number },
): Promise<number[]> {
  const free = [...connections]
  const latencies: number[] = []
  const running: Promise<void>[] = []
  const start_ms = performance.now()
  const total = Math.round((per_second * duration_ms) / 1000)
  for (let i = 0; i < total; ) {
    const due_ms = start_ms + (i * 1000) / per_second
    const wait_ms = due_ms - performance.now()
    if (wait_ms > 0) {
      await new Promise((resolve) => setTimeout(resolve, Math.max(1, wait_ms)))
      continue
    }
    i += 1
    const connection = free.pop()
    if (!connection) throw new Error('all connections are busy: the target does not keep up')
    const asked_ms = performance.now()
    running.push(
      connection.ask(asked).then((first_ms) => {
        latencies.push(first_ms - asked_ms)
        free.push(connection)
      }),
    )
  }
  await Promise.all(running)
  return latencies
}
