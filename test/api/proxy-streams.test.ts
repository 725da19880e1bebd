import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { chunksOf, dataOf } from '../support/chat-stream.ts'
import { testProvider } from '../support/provider.ts'
import { endingOf, goodHeaders, testProxy } from '../support/proxy.ts'
import { rawPost } from '../support/raw-post.ts'
import { chunk, rawUpstream, streamHead } from '../support/raw-upstream.ts'
import { quarterOf } from '../support/suite/budget.ts'

const question = {
  model: 'm-1',
  messages: [{ role: 'user', content: 'hi' }],
  stream: true,
}
const streamEnd = Buffer.concat([chunk('data: [DONE]\n\n'), Buffer.from('0\r\n\r\n')])
const content = 'Grüße aus Zürich. 📦 Das Paket kommt morgen, ✓.'

type Provider = Awaited<ReturnType<typeof testProvider>>

function sentBody(provider: Provider, index = 0) {
  return JSON.parse(provider.seen().requests[index]?.body.toString() ?? '')
}

describe('usage of a stream', () => {
  test('is requested from the provider, recorded, and removed from the client’s copy', async () => {
    await using provider = await testProvider({ script: { steps: [{ reply: { content } }] } })
    await using proxy = await testProxy(provider)
    const asked = { ...question, stream_options: { include_usage: true } }
    const direct = await rawPost(`${provider.base_urls.openai}/chat/completions`, asked).answer
    const answer = await rawPost(proxy.chat, question, goodHeaders).answer

    expect(sentBody(provider, 1)).toEqual({ stream_options: { include_usage: true }, ...question })
    expect(direct.body.toString()).toMatch(/"choices":\[\],"usage":\{/)
    expect(answer.complete).toBe(true)
    expect(dataOf(answer.body).at(-1)).toBe('[DONE]')
    const { facts, request, response } = await proxy.recorded()
    expect(JSON.parse(Buffer.from(request).toString())).toEqual(question)
    const recorded = Buffer.from(response)
    expect(facts).toMatchObject({
      outcome: 'complete',
      streamed: true,
      usage_requested_by_us: true,
      response_bytes: recorded.length,
    })
    const all = recorded.toString().split('\n\n')
    const usage = all.filter((event) => /"choices":\[\],"usage":\{/.test(event))
    expect(usage).toHaveLength(1)
    const unasked = all.map((event) => event.replace(',"usage":null', ''))
    expect(answer.body.toString().split('\n\n')).toEqual(unasked.filter((e) => e !== usage[0]))
  })

  test.each([true, false])('an explicit %s stays unchanged', async (include_usage) => {
    await using provider = await testProvider({ script: { steps: [{ reply: { content } }] } })
    await using proxy = await testProxy(provider)
    const body = JSON.stringify({ ...question, stream_options: { include_usage } })
    const answer = await rawPost(proxy.chat, body, goodHeaders).answer
    expect(provider.seen().requests[0]?.body.toString()).toBe(body)
    expect(/"choices":\[\],"usage":\{/.test(answer.body.toString())).toBe(include_usage)
    const { facts, response } = await proxy.recorded()
    expect(facts.usage_requested_by_us).toBe(false)
    expect(Buffer.from(response).equals(answer.body)).toBe(true)
  })

  test.each([
    ['n > 1, interleaved', { choices: [{ content }, { content: 'anders' }] }, {}],
    ['tool calls', { tool_calls: [{ name: 'f', arguments: { a: 'ü' } }] }, {}],
    ['carriage returns', { content }, { crlf: true }],
    ['comments, no space', { content }, { comments: 3, no_space_after_data: true }],
    ['each byte by itself', { content }, { split_at_every_byte: true }],
    ['usage in every chunk', { content }, { usage: 'every_chunk' as const }],
    ['no usage at all', { content }, { usage: 'never' as const }],
  ])('the client gets what it would get without the proxy: %s', async (_, reply, stream) => {
    const script = { repeatable: true, steps: [{ reply, stream }] }
    await using provider = await testProvider({ script })
    await using proxy = await testProxy(provider)
    const body = { ...question, n: 2 }
    const direct = await rawPost(`${provider.base_urls.openai}/chat/completions`, body).answer
    const answer = await rawPost(proxy.chat, body, goodHeaders).answer
    expect(answer.body.toString()).toBe(direct.body.toString())
    expect(sentBody(provider, 1).stream_options).toEqual({ include_usage: true })
  })

  test('only the usage chunk is removed from events of several lines', async () => {
    const steps = [{ reply: { content }, stream: { multi_line_data: true } }]
    await using provider = await testProvider({ script: { steps } })
    await using proxy = await testProxy(provider)
    const answer = await rawPost(proxy.chat, question, goodHeaders).answer
    const { response } = await proxy.recorded()
    const asked = chunksOf(Buffer.from(response))
    expect(chunksOf(answer.body)).toEqual(asked.filter(({ choices }) => choices.length > 0))
    expect(asked.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 5 } })
  })

  test('legacy completions too', async () => {
    await using provider = await testProvider({ script: { steps: [{ reply: { content } }] } })
    await using proxy = await testProxy(provider)
    const body = { model: 'm', prompt: 'x', stream: true }
    const answer = await rawPost(`${proxy.url}/v1/completions`, body, goodHeaders).answer
    expect(sentBody(provider).stream_options).toEqual({ include_usage: true })
    expect(answer.body.toString()).not.toContain('"usage":{')
    const { facts, response } = await proxy.recorded()
    expect(facts).toMatchObject({ endpoint: 'completions', streamed: true })
    expect(Buffer.from(response).toString()).toContain('"usage":{')
  })

  test('a call that is not streamed is not touched', async () => {
    await using provider = await testProvider()
    await using proxy = await testProxy(provider)
    const body = JSON.stringify({ ...question, stream: false })
    const answer = await rawPost(proxy.chat, body, goodHeaders).answer
    expect(provider.seen().requests[0]?.body.toString()).toBe(body)
    expect(answer.body.toString()).toContain('"usage":{')
  })

  test('a compressed stream is passed on whole', async () => {
    await using provider = await testProvider({ script: { steps: [{ gzip: true }] } })
    await using proxy = await testProxy(provider)
    const answer = await rawPost(proxy.chat, question, goodHeaders).answer
    const { facts, response } = await proxy.recorded()
    expect(facts).toMatchObject({ response_encoding: 'gzip', usage_requested_by_us: true })
    expect(Buffer.from(response).equals(answer.body)).toBe(true)
  })
})

describe('a provider that refuses stream_options', () => {
  const script = { knows_stream_options: false, steps: [{ reply: { content } }] }

  test('is asked once more without, and for a while not again', async () => {
    await using provider = await testProvider({ script })
    let now_ms = Date.now()
    await using proxy = await testProxy({
      ...provider,
      clock: { now_ms: () => now_ms },
      settings: { usage_refusal_kept_ms: 60_000 },
    })
    const first = await rawPost(proxy.chat, question, goodHeaders).answer
    expect(first.status).toBe(200)
    expect(dataOf(first.body).at(-1)).toBe('[DONE]')
    expect(provider.seen().total).toBe(2)
    expect((await proxy.recorded()).facts).toMatchObject({
      outcome: 'complete',
      usage_requested_by_us: false,
    })
    await rawPost(proxy.chat, question, goodHeaders).answer
    expect(provider.seen().total).toBe(3)
    now_ms += 60_001
    await rawPost(proxy.chat, question, goodHeaders).answer
    expect(provider.seen().total).toBe(5)
  })

  test('an explicit choice gets the provider’s own answer', async () => {
    await using provider = await testProvider({ script })
    await using proxy = await testProxy(provider)
    const body = { ...question, stream_options: { include_usage: true } }
    const answer = await rawPost(proxy.chat, body, goodHeaders).answer
    expect(answer.status).toBe(400)
    expect(provider.seen().total).toBe(1)
  })

  test('any other 400 passes through unchanged, without a second request', async () => {
    const steps = [{ reply: { error: { status: 400, message: 'no such model' } } }]
    await using provider = await testProvider({ script: { steps } })
    await using proxy = await testProxy(provider)
    const direct = await rawPost(`${provider.base_urls.openai}/chat/completions`, question).answer
    const answer = await rawPost(proxy.chat, question, goodHeaders).answer
    expect(answer.status).toBe(400)
    expect(answer.body.equals(direct.body)).toBe(true)
    expect(provider.seen().total).toBe(2)
    const { response } = await proxy.recorded()
    expect(Buffer.from(response).equals(direct.body)).toBe(true)
  })

  test('a long 400 passes through unread', async () => {
    const body = `{"error":"${'x'.repeat(200_000)} stream_options"}`
    const steps = [{ reply: { raw: { status: 400, body } } }]
    await using provider = await testProvider({ script: { steps } })
    await using proxy = await testProxy(provider)
    const answer = await rawPost(proxy.chat, question, goodHeaders).answer
    expect(answer.status).toBe(400)
    expect(answer.body.toString()).toBe(body)
    expect(provider.seen().total).toBe(1)
  })

  test('a second 400 does not mark the provider', async () => {
    const steps = [{ reply: { error: { status: 400, message: 'no model stream_options' } } }]
    await using provider = await testProvider({ script: { steps } })
    await using proxy = await testProxy(provider)
    expect((await rawPost(proxy.chat, question, goodHeaders).answer).status).toBe(400)
    provider.script({ steps: [{ reply: { content } }] })
    await rawPost(proxy.chat, question, goodHeaders).answer
    expect(sentBody(provider, 2).stream_options).toEqual({ include_usage: true })
  })
})

describe('split anywhere', () => {
  const events = [
    'data: {"choices":[{"index":0,"delta":{"content":"ü📦"}}],"usage":null}\n\n',
    ': "usage":{}\r\n\r\n',
    'data:{"choices":[],"usage":{"prompt_tokens":1}}\r\n\r\n',
    'data: [DONE]\n\n',
  ]
  const bytes = Buffer.from(events.join(''))
  const everyOffset = Array.from({ length: bytes.length + 1 }, (_, offset) => offset)

  test('the client gets everything but the usage, split at every byte offset', async () => {
    let split = 0
    await using upstream = await rawUpstream(async (socket) => {
      socket.write(streamHead)
      for (const part of [bytes.subarray(0, split), bytes.subarray(split)]) {
        if (part.length > 0) socket.write(chunk(part))
        await turn()
      }
      socket.write('0\r\n\r\n')
    })
    await using proxy = await testProxy(upstream)
    const expected = [events[0]?.replace(',"usage":null', ''), events[1], events[3]].join('')
    for (const [index, offset] of quarterOf(everyOffset).entries()) {
      split = offset
      const answer = await rawPost(proxy.chat, question, goodHeaders).answer
      expect(answer.body.toString(), `split at ${offset}`).toBe(expected)
      const { response } = await proxy.recorded(index)
      expect(Buffer.from(response).equals(bytes)).toBe(true)
    }
  })
})

test('the head of a stream is passed on before its first token', async () => {
  let send = () => {}
  await using upstream = await rawUpstream((socket) => {
    socket.write(streamHead)
    send = () => socket.end(streamEnd)
  })
  await using proxy = await testProxy(upstream)
  const post = rawPost(proxy.chat, question, goodHeaders)
  const head = await post.head
  expect(head.headers['x-trace-id']).toBeDefined()
  send()
  expect((await post.answer).body.toString()).toBe('data: [DONE]\n\n')
  expect(endingOf(await proxy.recorded())).toMatchObject({ outcome: 'complete' })
})

test('each event is passed on when it arrives, not later', async () => {
  const steps: (() => void)[] = []
  await using upstream = await rawUpstream((socket) => {
    socket.write(streamHead)
    socket.write(chunk('data: {"a":1}\n\n'))
    steps.push(() => socket.end(streamEnd))
  })
  await using proxy = await testProxy(upstream)
  const post = rawPost(proxy.chat, question, goodHeaders)
  expect((await post.firstBytes).toString()).toBe('data: {"a":1}\n\n')
  for (const step of steps) step()
  expect((await post.answer).body.toString()).toBe('data: {"a":1}\n\ndata: [DONE]\n\n')
})
