import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { askOnce, messages } from '../support/ask-once.ts'
import { chunksOf, contentOf, dataOf } from '../support/chat-stream.ts'
import { eventually } from '../support/eventually.ts'
import { startProviderProcess, testProvider } from '../support/provider.ts'
import { rawPost } from '../support/raw-post.ts'

const text = 'Parcel 7 left Zürich at noon. 📦 It arrives tomorrow.'

const streamed = { stream: true }

describe('faults', () => {
  test('a stream is cut after a number of chunks', async () => {
    const answer = await askOnce({ stream: { cut_after_chunks: 2 } }, streamed)
    expect([answer.complete, chunksOf(answer.body).length]).toEqual([false, 2])
  })

  test('a stream is cut after a number of bytes, even 0', async () => {
    const some = await askOnce({ stream: { cut_after_bytes: 123 } }, streamed)
    expect([some.complete, some.body.length]).toEqual([false, 123])
    const none = await askOnce({ stream: { cut_after_chunks: 0 } }, streamed)
    expect([none.status, none.complete, none.body.length]).toEqual([200, false, 0])
  })

  test('an answer in one piece is cut after a number of bytes', async () => {
    const answer = await askOnce({ cut_after_bytes: 50 })
    expect([answer.complete, answer.body.length]).toEqual([false, 50])
  })

  test.each([
    ['before the headers', { cut_before_headers: true }],
    ['with bytes that are no HTTP', { garbage: 'http' as const }],
  ])('the connection ends %s', async (_, step) => {
    await expect(askOnce(step)).rejects.toThrow()
  })

  test('garbage is a 200 that is not JSON', async () => {
    const { status, body } = await askOnce({ garbage: 'body' })
    expect(status).toBe(200)
    expect(() => JSON.parse(body.toString('utf8'))).toThrow()
  })

  test.each([
    ['event', 'event: error\ndata: {"error":{'],
    ['data', '\n\ndata: {"error":{'],
    ['chunk', '"error":{"code":502,'],
  ] as const)('an error comes in mid-stream as %s', async (form, wire) => {
    const stream = { error_mid_stream: { after_chunks: 2, form } }
    const { body, complete } = await askOnce({ reply: { content: text }, stream }, streamed)
    expect(complete).toBe(true)
    expect(body.toString('utf8')).toContain(wire)
    expect(dataOf(body).includes('[DONE]')).toBe(form === 'chunk')
    expect(chunksOf(body)).toHaveLength(3)
  })

  test('gzip is sent even unasked, streams too', async () => {
    const whole = await askOnce({ gzip: true, reply: { content: text } })
    expect(JSON.parse(gunzipSync(whole.body).toString('utf8')).choices).toHaveLength(1)
    const stream = await askOnce({ gzip: true, reply: { content: text } }, streamed)
    expect(stream.headers['content-encoding']).toBe('gzip')
    expect(contentOf(gunzipSync(stream.body))).toBe(text)
  })

  test('a raw answer is sent unchanged, its headers before ours', async () => {
    const raw = {
      status: 203,
      headers: { 'Content-Type': 'text/x', 'X-Request-ID': 'mine' },
      body: '/w==',
      encoding: 'base64' as const,
    }
    const { status, headers, body } = await askOnce({ reply: { raw } }, streamed)
    expect([status, headers['content-type'], headers['x-request-id'], body]).toEqual([
      203,
      'text/x',
      'mine',
      Buffer.from([255]),
    ])
  })

  test('an error has the body and headers of the script', async () => {
    const error = { status: 503, headers: { 'retry-after': '7' }, body: { busy: true } }
    const { status, headers, body } = await askOnce({ reply: { error } })
    expect([status, headers['retry-after'], body.toString()]).toEqual([503, '7', '{"busy":true}'])
  })
})

describe('recorded requests', () => {
  test('headers as received, the body, the counts', async () => {
    await using server = await testProvider()
    const body = { model: 'm', messages }
    const url = `${server.base_urls.openai}/chat/completions?x=1`
    const answer = await rawPost(url, body, { 'X-Twice': ['a', 'b'] }).answer
    const seen = await eventually('the end', () => {
      const now = server.seen()
      return now.requests[0]?.outcome === 'complete' && now
    })
    const [request] = seen.requests
    expect(request?.headers.filter(([name]) => name === 'X-Twice')).toEqual([
      ['X-Twice', 'a'],
      ['X-Twice', 'b'],
    ])
    expect(JSON.parse(request?.body.toString() ?? '')).toEqual(body)
    expect(request).toMatchObject({
      number: 1,
      method: 'POST',
      path: '/v1/chat/completions',
      provider: 'openai',
      status: 200,
      aborted: null,
      bytes_written: answer.body.length,
    })
    expect(seen).toMatchObject({ total: 1, aborted: 0, cut: 0 })
  })

  test.each([
    ['before_headers', { stall_before_headers: true }],
    ['before_headers', { delay_ms: 60_000 }],
    ['before_first_byte', { stream: { first_delay_ms: 60_000 } }],
    ['body', { stream: { stall_after_chunks: 1 } }],
    ['body', { stream: { delay_ms: 60_000 } }],
    ['body', { stall_after_bytes: 10 }],
  ] as const)('a client that disconnects: %s (%j)', async (phase, step) => {
    await using server = await testProvider({ script: { steps: [step] } })
    const url = `${server.base_urls.openai}/chat/completions`
    const post = rawPost(url, { model: 'm', messages, ...streamed })
    if (phase === 'body') await post.firstBytes
    else if (phase === 'before_first_byte') await post.head
    else await eventually('the request', () => server.seen().requests[0]?.body_at_ms ?? undefined)
    expect(server.seen().requests[0]?.outcome).toBe('open')
    post.leave()
    const seen = await eventually('the abort', () => server.seen().aborted === 1 && server.seen())
    expect(seen.requests[0]).toMatchObject({ outcome: 'client_gone', aborted: phase })
  })

  test('our own cuts are not aborts', async () => {
    const script = { steps: [{ stream: { cut_after_chunks: 1 } }] }
    await using server = await testProvider({ script })
    const url = `${server.base_urls.openai}/chat/completions`
    await rawPost(url, { model: 'm', messages, ...streamed }).answer
    await eventually('the cut', () => server.seen().cut === 1)
    expect(server.seen().aborted).toBe(0)
  })

  test('a server that stops cuts open connections, which are not aborts', async () => {
    const provider = await testProvider({ script: { steps: [{ stall_before_headers: true }] } })
    const url = `${provider.base_urls.openai}/chat/completions`
    const post = rawPost(url, { model: 'm', messages })
    await eventually('the request', () => provider.seen().total === 1)
    await provider.stop()
    await expect(post.answer).rejects.toThrow()
    expect(provider.seen()).toMatchObject({ aborted: 0, cut: 1 })
  })

  test('the ring keeps the last requests and counts all', async () => {
    await using server = await testProvider({ seen_requests_max: 2, body_kept_bytes_max: 5 })
    const url = `${server.base_urls.openai}/chat/completions`
    for (let sent = 0; sent < 3; sent += 1) await rawPost(url, { model: 'm', messages }).answer
    const { total, requests } = server.seen()
    expect([total, requests.map(({ number }) => number)]).toEqual([3, [2, 3]])
    expect(requests[0]?.body.length).toBe(5)
    expect(requests[0]?.body_bytes).toBeGreaterThan(5)
  })

  test('the control paths are closed unless opened', async () => {
    await using server = await testProvider()
    expect((await fetch(`${server.url}/_seen`)).status).toBe(404)
  })

  test('a server in a separate process is scripted and asked over HTTP', async () => {
    await using server = await startProviderProcess()
    await server.script({ steps: [{ reply: { content: 'from afar' } }] })
    const url = `${server.base_urls.openai}/chat/completions`
    const { body } = await rawPost(url, { model: 'm', messages }).answer
    expect(body.toString()).toContain('from afar')
    const seen = await server.seen()
    expect(JSON.parse(seen.requests[0]?.body.toString() ?? '').model).toBe('m')
    await expect(server.script({ steps: [{ times: 0 }] })).rejects.toThrow('/steps/0/times')
  })
})
