import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { dataOf } from '../support/chat-stream.ts'
import { eventually } from '../support/eventually.ts'
import { testProvider } from '../support/provider.ts'
import { endingOf, goodHeaders, type TestProxy, testProxy } from '../support/proxy.ts'
import { rawPost } from '../support/raw-post.ts'
import { chunk, rawUpstream, streamHead } from '../support/raw-upstream.ts'
import { budget } from '../support/suite/budget.ts'

const question = { model: 'm-1', messages: [{ role: 'user', content: 'hi' }] }
const streamed = { ...question, stream: true }
const content = 'one two three four five six seven eight nine ten'
type Provider = Awaited<ReturnType<typeof testProvider>>

function providerAborted(provider: Provider) {
  return eventually('the provider’s abort', () => provider.seen().requests[0]?.aborted ?? undefined)
}

function arrived(provider: Provider) {
  return eventually('the request', () => provider.seen().requests[0]?.body_at_ms ?? undefined)
}

/** A stream as the provider sends it to clients that do not ask for usage. */
function unasked(response: Uint8Array): string {
  return Buffer.from(response).toString().replaceAll(',"usage":null', '')
}

const clientGone = { outcome: 'client_gone', error_type: 'client_gone' }

describe('an answer that is no answer of a model', () => {
  test.each([
    ['200 OK', 'Content-Length: 0', '', /without a body/],
    ['204 No Content', 'X-A: b', '', /without a body/],
    ['302 Found', 'Location: /x\r\nContent-Length: 0', '', /a redirect, status 302/],
    ['200 OK', 'Content-Type: text/html\r\nContent-Length: 4', '<p/>', /a page of HTML/],
    ['200 OK', 'Content-Type: text/event-stream\r\nContent-Length: 0', '', /without a body/],
  ])('%s, %s passes and is not counted as complete', async (line, head, body, says) => {
    await using upstream = await rawUpstream((socket) => {
      socket.write(`HTTP/1.1 ${line}\r\n${head}\r\n\r\n${body}`)
    })
    await using proxy = await testProxy(upstream)
    const answer = await rawPost(proxy.chat, question, goodHeaders).answer
    expect([answer.status, answer.body.toString()]).toEqual([Number(line.slice(0, 3)), body])
    const { facts } = await proxy.recorded()
    expect(facts).toMatchObject({ outcome: 'provider_error', error_type: 'malformed_answer' })
    expect(facts.error_message).toMatch(says)
    expect((await proxy.metrics.expose()).body).toContain('error_type="malformed_answer"} 1')
  })
})

describe('a client that disconnects', () => {
  test('while it sends the body', async () => {
    await using provider = await testProvider()
    await using proxy = await testProxy(provider)
    const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1')
    socket.write(
      'POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nX-API-Key: lt_valid\r\n' +
        'Authorization: Bearer k\r\nContent-Type: application/json\r\n' +
        'Content-Length: 1000\r\n\r\n{"model":',
    )
    await eventually('the call', async () =>
      (await proxy.metrics.expose()).body.includes('looptrace_proxy_in_flight_calls 1'),
    )
    socket.destroy()
    const { facts, request } = await proxy.recorded()
    expect(facts).toMatchObject({ ...clientGone, status_code: 499, content_state: 'truncated' })
    expect(facts.error_message).toMatch(/while it sent the body/)
    expect(Buffer.from(request).toString()).toBe('{"model":')
    expect(provider.seen().total).toBe(0)
  })

  test.each([
    ['before the headers', question, { stall_before_headers: true }],
    ['before the first byte of a stream', streamed, { stream: { stall_after_chunks: 0 } }],
  ])('%s', async (_, body, step) => {
    await using provider = await testProvider({ script: { steps: [step] } })
    await using proxy = await testProxy(provider)
    const post = rawPost(proxy.chat, body, goodHeaders)
    await arrived(provider)
    post.leave()
    await providerAborted(provider)
    const { facts } = await proxy.recorded()
    expect(facts).toMatchObject(clientGone)
    expect(facts.error_message).toMatch(/before the first byte/)
    expect(facts.response_bytes).toBe(0)
    expect(facts.first_token_time).toBeNull()
  })

  test('in the middle of a stream', async () => {
    const steps = [{ reply: { content }, stream: { chunks: 10, stall_after_chunks: 3 } }]
    await using provider = await testProvider({ script: { steps } })
    await using proxy = await testProxy(provider)
    const post = rawPost(proxy.chat, streamed, goodHeaders)
    await post.firstBytes
    post.leave()
    expect(await providerAborted(provider)).toBe('body')
    const { facts, response } = await proxy.recorded()
    expect(facts).toMatchObject({ ...clientGone, status_code: 200, streamed: true })
    expect(facts.error_message).toMatch(/in the middle/)
    expect(dataOf(Buffer.from(response)).length).toBeGreaterThan(0)
    expect(facts.first_token_time).not.toBeNull()
  })

  test('in the middle of an answer in one piece', async () => {
    const steps = [{ reply: { content }, stall_after_bytes: 20 }]
    await using provider = await testProvider({ script: { steps } })
    await using proxy = await testProxy(provider)
    const post = rawPost(proxy.chat, question, goodHeaders)
    await post.firstBytes
    post.leave()
    await providerAborted(provider)
    const exchange = await proxy.recorded()
    expect(endingOf(exchange)).toEqual({ ...clientGone, status_code: 200 })
    expect(exchange.response).toHaveLength(20)
  })

  test('after the mark that ends a stream, and before the end of the transfer', async () => {
    await using upstream = await rawUpstream((socket) => {
      socket.write(streamHead)
      socket.write(chunk('data: {"choices":[]}\n\ndata: [DONE]\n\n'))
    })
    await using proxy = await testProxy(upstream)
    const post = rawPost(proxy.chat, streamed, goodHeaders)
    await post.firstBytes
    post.leave()
    expect(endingOf(await proxy.recorded())).toEqual({
      outcome: 'complete',
      status_code: 200,
      error_type: '',
    })
  })

  test('before it has read all of a complete stream', async () => {
    const event = `data: {"content":"${'x'.repeat(1_000_000)}"}\n\n`
    await using upstream = await rawUpstream((socket) => {
      socket.write(streamHead)
      for (let sent = 0; sent < 20; sent += 1) socket.write(chunk(event))
      socket.end(Buffer.concat([chunk('data: [DONE]\n\n'), Buffer.from('0\r\n\r\n')]))
    })
    await using proxy = await testProxy(upstream)
    const post = rawPost(proxy.chat, streamed, goodHeaders)
    const head = await post.head
    head.pause()
    await post.firstBytes
    post.leave()
    expect(endingOf(await proxy.recorded())).toMatchObject(clientGone)
  })

  test('while the provider is still being connected to', async () => {
    await using blackHole = await listenerThatNeverAccepts()
    await using proxy = await testProxy(blackHole)
    const post = rawPost(proxy.chat, question, goodHeaders)
    await eventually('the call', async () =>
      (await proxy.metrics.expose()).body.includes('looptrace_proxy_in_flight_calls 1'),
    )
    post.leave()
    expect(endingOf(await proxy.recorded())).toEqual({ ...clientGone, status_code: 499 })
  })
})

describe('a provider that fails before its headers', () => {
  test('refuses connections', async () => {
    const port = await freePort()
    await using proxy = await testProxy({ base_urls: { openai: `http://127.0.0.1:${port}/v1` } })
    const answer = await rawPost(proxy.chat, question, goodHeaders).answer
    expect(answer.status).toBe(502)
    expect(answer.headers['x-should-retry']).toBe('false')
    expect(answer.headers['x-trace-id']).toBeDefined()
    expect(JSON.parse(answer.body.toString()).error).toMatchObject({
      type: 'api_error',
      code: 'provider_unreachable',
    })
    expect(endingOf(await proxy.recorded())).toEqual({
      outcome: 'upstream_cut',
      status_code: 502,
      error_type: 'provider_unreachable',
    })
  })

  test.each([
    ['no UTF-8', 'O\xffK'],
    ['a control character', 'OK\x01'],
  ])('has %s in its reason phrase, and is answered without it', async (_name, reason) => {
    await using upstream = await rawUpstream((socket) => {
      socket.write(Buffer.from(`HTTP/1.1 200 ${reason}\r\nContent-Length: 2\r\n\r\n{}`, 'latin1'))
    })
    await using proxy = await testProxy(upstream)
    const answer = await rawPost(proxy.chat, question, goodHeaders).answer
    expect([answer.status, answer.body.toString()]).toEqual([200, '{}'])
    expect(endingOf(await proxy.recorded()).outcome).toBe('complete')
  })

  test.each([
    ['closes the connection', { cut_before_headers: true }, 502, 'provider_cut'],
    ['sends invalid HTTP', { garbage: 'http' as const }, 502, 'provider_cut'],
  ])('%s', async (_, step, status, code) => {
    await using provider = await testProvider({ script: { steps: [step] } })
    await using proxy = await testProxy(provider)
    for (const body of [question, streamed]) {
      const answer = await rawPost(proxy.chat, body, goodHeaders).answer
      expect(answer.status).toBe(status)
      expect(JSON.parse(answer.body.toString()).error.code).toBe(code)
      expect(answer.headers['x-should-retry']).toBe('false')
    }
    expect(provider.seen().total).toBe(2)
    expect(endingOf(await proxy.recorded(1))).toEqual({
      outcome: 'upstream_cut',
      status_code: status,
      error_type: code,
    })
  })

  test('sends nothing within the idle timeout', async () => {
    const steps = [{ stall_before_headers: true }]
    await using provider = await testProvider({ script: { steps } })
    await using proxy = await testProxy({ ...provider, settings: { idle_timeout_ms: 200 } })
    const answer = await rawPost(proxy.chat, question, goodHeaders).answer
    expect(answer.status).toBe(504)
    expect(JSON.parse(answer.body.toString()).error.code).toBe('provider_timeout')
    expect(endingOf(await proxy.recorded())).toEqual({
      outcome: 'timeout',
      status_code: 504,
      error_type: 'provider_timeout',
    })
    await providerAborted(provider)
  })

  test('cannot be connected to in time', async () => {
    await using blackHole = await listenerThatNeverAccepts()
    await using proxy = await testProxy({ ...blackHole, settings: { connect_timeout_ms: 200 } })
    const answer = await rawPost(proxy.chat, question, goodHeaders).answer
    expect(answer.status).toBe(504)
    expect(JSON.parse(answer.body.toString()).error.message).toMatch(/did not accept a connection/)
    expect((await proxy.recorded()).facts.outcome).toBe('timeout')
  })

  test('answers garbage in a 200: it passes through', async () => {
    await using provider = await testProvider({ script: { steps: [{ garbage: 'body' }] } })
    await using proxy = await testProxy(provider)
    const answer = await rawPost(proxy.chat, question, goodHeaders).answer
    expect(answer.status).toBe(200)
    const exchange = await proxy.recorded()
    expect(exchange.facts.outcome).toBe('complete')
    expect(Buffer.from(exchange.response).equals(answer.body)).toBe(true)
  })
})

describe('a provider that fails in mid-stream', () => {
  async function lastEvent(proxy: TestProxy) {
    const answer = await rawPost(proxy.chat, streamed, goodHeaders).answer
    const events = dataOf(answer.body)
    expect(answer.status).toBe(200)
    expect(answer.complete).toBe(true)
    expect(events).not.toContain('[DONE]')
    const last = answer.body.toString().trim().split('\n\n').at(-1) ?? ''
    return { events, error: JSON.parse(last.replace('data: ', '')).error }
  }

  test('by a cut: the client gets one error event and no [DONE]', async () => {
    const steps = [{ reply: { content }, stream: { chunks: 10, cut_after_chunks: 4 } }]
    await using provider = await testProvider({ script: { steps } })
    await using proxy = await testProxy(provider)
    const { events, error } = await lastEvent(proxy)
    expect(error.code).toBe('provider_cut')
    const exchange = await proxy.recorded()
    expect(endingOf(exchange)).toEqual({
      outcome: 'upstream_cut',
      status_code: 200,
      error_type: 'provider_cut',
    })
    expect(events.slice(0, -1)).toEqual(dataOf(Buffer.from(unasked(exchange.response))))
  })

  test.each([true, false])('by a cut inside an event (usage asked by us: %s)', async (ours) => {
    await using upstream = await rawUpstream((socket) => {
      socket.write(streamHead)
      socket.write(chunk('data: {"a":1}\n\n'))
      socket.write(chunk('data: {"b"'))
      setImmediate(() => socket.destroy())
    })
    await using proxy = await testProxy(upstream)
    const body = ours ? streamed : { ...streamed, stream_options: { include_usage: false } }
    const answer = await rawPost(proxy.chat, body, goodHeaders).answer
    const text = answer.body.toString()
    expect(text).toMatch(
      ours ? /^data: \{"a":1\}\n\ndata: \{"error":/ : /\{"b"\n\ndata: \{"error":/,
    )
    expect(text).toMatch(/\}\n\n$/)
    expect((await proxy.recorded()).facts.outcome).toBe('upstream_cut')
  })

  test('by silence: the client gets one error event and no [DONE]', async () => {
    const steps = [{ reply: { content }, stream: { chunks: 10, stall_after_chunks: 2 } }]
    await using provider = await testProvider({ script: { steps } })
    await using proxy = await testProxy({ ...provider, settings: { idle_timeout_ms: 300 } })
    const { error } = await lastEvent(proxy)
    expect(error.code).toBe('provider_timeout')
    expect(endingOf(await proxy.recorded())).toEqual({
      outcome: 'timeout',
      status_code: 200,
      error_type: 'provider_timeout',
    })
    await providerAborted(provider)
  })

  test.each(['event', 'data', 'chunk'] as const)('by its own error as %s', async (form) => {
    const steps = [{ reply: { content }, stream: { error_mid_stream: { after_chunks: 2, form } } }]
    await using provider = await testProvider({ script: { steps } })
    await using proxy = await testProxy(provider)
    const answer = await rawPost(proxy.chat, streamed, goodHeaders).answer
    const { facts, response } = await proxy.recorded()
    expect(facts.outcome).toBe('complete')
    expect(answer.body.toString()).toBe(unasked(response))
  })
})

describe('a provider that fails in the middle of an answer in one piece', () => {
  test('by a cut: the client sees the cut', async () => {
    const steps = [{ reply: { content }, cut_after_bytes: 25 }]
    await using provider = await testProvider({ script: { steps } })
    await using proxy = await testProxy(provider)
    const answer = await rawPost(proxy.chat, question, goodHeaders).answer
    expect(answer.complete).toBe(false)
    const exchange = await proxy.recorded()
    expect(endingOf(exchange)).toEqual({
      outcome: 'upstream_cut',
      status_code: 200,
      error_type: 'provider_cut',
    })
    expect(exchange.response).toHaveLength(25)
  })

  test('by silence: the client sees a cut', async () => {
    const steps = [{ reply: { content }, stall_after_bytes: 25 }]
    await using provider = await testProvider({ script: { steps } })
    await using proxy = await testProxy({ ...provider, settings: { idle_timeout_ms: 200 } })
    const answer = await rawPost(proxy.chat, question, goodHeaders).answer
    expect(answer.complete).toBe(false)
    expect((await proxy.recorded()).facts.outcome).toBe('timeout')
  })
})

describe('a slow client', () => {
  const piece = 'x'.repeat(64 * 1024)

  /** A provider that sends 64 KiB pieces for as long as they are read. */
  async function fireHose(pieces: number) {
    let written = 0
    const server = createServer((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const send = () => {
        while (written < pieces) {
          written += 1
          if (!response.write(`data: ${piece}\n\n`)) return response.once('drain', send)
        }
        return response.end()
      }
      send()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return {
      base_urls: { openai: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` },
      written: () => written,
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections()
        server.close()
      },
    }
  }

  test('slows the provider down, and gets everything when it reads again', async () => {
    const pieces = budget({ test: 600, soak: 1_000 })
    await using provider = await fireHose(pieces)
    await using proxy = await testProxy(provider)
    const post = rawPost(proxy.chat, streamed, goodHeaders)
    const head = await post.head
    head.pause()
    const stuck = await eventually('a standstill', async () => {
      const before = provider.written()
      await new Promise((resolve) => setTimeout(resolve, 150))
      return before > 0 && provider.written() === before && before
    })
    expect(stuck).toBeLessThan(500)
    head.resume()
    const bytes = (await post.answer).body.length
    expect(bytes).toBe(pieces * (piece.length + 8))
    const { facts } = await proxy.recorded()
    expect(facts).toMatchObject({
      outcome: 'complete',
      content_state: 'truncated',
      response_bytes: bytes,
    })
  })

  test('that never reads is disconnected', async () => {
    await using provider = await fireHose(1000)
    await using proxy = await testProxy({ ...provider, settings: { idle_timeout_ms: 300 } })
    const head = await rawPost(proxy.chat, streamed, goodHeaders).head
    head.on('error', () => undefined)
    head.pause()
    expect(endingOf(await proxy.recorded())).toEqual({ ...clientGone, status_code: 200 })
  })
})

test('connections are reused after errors of all kinds', async () => {
  await using provider = await testProvider({
    script: { steps: [{ times: 1, reply: { error: { status: 500 } } }] },
  })
  await using proxy = await testProxy(provider)
  const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1')
  const answers: string[] = []
  socket.on('data', (bytes) => answers.push(bytes.toString()))
  const ask = async (headers: string, status: number) => {
    const body = JSON.stringify(question)
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`,
    )
    await eventually(`status ${status}`, () => answers.join('').includes(`HTTP/1.1 ${status} `))
    expect(answers.join('')).not.toMatch(/connection: close/i)
    await eventually('its end', () => /[}\n]$/.test(answers.at(-1) ?? ''))
    answers.length = 0
  }
  const good =
    'X-API-Key: lt_valid\r\nAuthorization: Bearer k\r\nContent-Type: application/json\r\n'
  await ask(good, 500)
  await ask('', 401)
  await ask(`${good}X-Provider: none\r\n`, 400)
  await ask(good.replace('application/json', 'text/plain'), 415)
  await ask(good, 200)
  socket.destroy()
  await proxy.recorded(3)
  expect(proxy.exchanges.map(({ facts }) => facts.status_code)).toEqual([500, 400, 415, 200])
})

test('a request that undici refuses to send is refused', async () => {
  await using proxy = await testProxy()
  const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1')
  socket.write(
    'POST /v1/chat/completions?q=\x7f\xe9 HTTP/1.1\r\nHost: h\r\nX-API-Key: lt_valid\r\n' +
      'Authorization: Bearer k\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
    'latin1',
  )
  const [bytes] = await once(socket, 'data')
  expect(bytes.toString()).toMatch(/^HTTP\/1.1 4\d\d /)
  socket.destroy()
})

describe('close ends calls in flight', () => {
  test('with an error, before the answer began', async () => {
    const steps = [{ stall_before_headers: true }]
    await using provider = await testProvider({ script: { steps } })
    await using proxy = await testProxy(provider)
    const post = rawPost(proxy.chat, question, goodHeaders)
    await arrived(provider)
    await proxy.proxy.close()
    const answer = await post.answer
    expect(answer.status).toBe(503)
    expect(JSON.parse(answer.body.toString()).error.code).toBe('shutting_down')
    expect(answer.headers.connection).toBe('close')
    await providerAborted(provider)
    expect(endingOf(await proxy.recorded())).toEqual({
      outcome: 'upstream_cut',
      status_code: 503,
      error_type: 'shutting_down',
    })
  })

  test('with an error event, in the middle of a stream', async () => {
    const steps = [{ reply: { content }, stream: { chunks: 10, stall_after_chunks: 3 } }]
    await using provider = await testProvider({ script: { steps } })
    await using proxy = await testProxy(provider)
    const post = rawPost(proxy.chat, streamed, goodHeaders)
    await post.firstBytes
    await proxy.proxy.close()
    const { body, complete } = await post.answer
    expect(complete).toBe(true)
    expect(body.toString()).toMatch(/data: \{"error":\{[^\n]*"code":"shutting_down"\}\}\n\n$/)
    expect(endingOf(await proxy.recorded())).toEqual({
      outcome: 'upstream_cut',
      status_code: 200,
      error_type: 'shutting_down',
    })
  })
})

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** A listener whose accept queue is full: another connection waits for ever. */
async function listenerThatNeverAccepts() {
  const { spawn } = await import('node:child_process')
  const script =
    'import socket,sys,time\ns=socket.socket();s.bind(("127.0.0.1",0));s.listen(0)\n' +
    'print(s.getsockname()[1],flush=True);time.sleep(60)'
  const child = spawn('python3', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = await once(child.stdout, 'data')
  const port = Number(line.toString())
  const fillers = [1, 2, 3].map(() => connect(port, '127.0.0.1').on('error', () => undefined))
  await new Promise((resolve) => setTimeout(resolve, 100))
  return {
    base_urls: { openai: `http://127.0.0.1:${port}/v1` },
    [Symbol.asyncDispose]: async () => {
      for (const filler of fillers) filler.destroy()
      child.kill()
    },
  }
}
