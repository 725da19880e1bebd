import { describe, expect, test } from 'vitest'
import { askOnce, messages } from '../support/ask-once.ts'
import { chunksOf, contentOf, dataOf } from '../support/chat-stream.ts'
import { testProvider } from '../support/provider.ts'
import { rawPost } from '../support/raw-post.ts'

const text = 'Parcel 7 left Zürich at noon. 📦 It arrives tomorrow.'

const streamed = { stream: true }
const streamedWithUsage = { stream: true, stream_options: { include_usage: true } }

describe('streams', () => {
  test('have the configured number of chunks, and split no character', async () => {
    const step = { reply: { content: text }, stream: { chunks: 9 } }
    const { body, headers } = await askOnce(step, streamed)
    expect(headers['content-type']).toBe('text/event-stream; charset=utf-8')
    const contents = chunksOf(body).map((chunk) => chunk.choices[0]?.delta['content'])
    expect(contents.filter((content) => content)).toHaveLength(9)
    expect(contentOf(body)).toBe(text)
    expect(dataOf(body).at(-1)).toBe('[DONE]')
    expect(chunksOf(body).at(-1)?.choices[0]?.finish_reason).toBe('stop')
  })

  test('have the same bytes when each is written separately', async () => {
    const reply = { content: text, reasoning_content: 'Look it up.' }
    const whole = await askOnce({ reply }, streamed)
    const split = await askOnce({ reply, stream: { split_at_every_byte: true } }, streamed)
    expect(split.reads.length).toBeGreaterThan(whole.reads.length * 10)
    expect(contentOf(split.body)).toBe(text)
    expect(split.body.length).toBe(whole.body.length)
  })

  test('support CRLF, no space, several data lines and comments', async () => {
    const stream = { crlf: true, no_space_after_data: true, multi_line_data: true, comments: 2 }
    const { body } = await askOnce({ reply: { content: text }, stream }, streamed)
    const wire = body.toString('utf8')
    expect(wire.startsWith(': PROCESSING\r\n\r\n: PROCESSING\r\n\r\ndata:{\r\ndata: "id"')).toBe(
      true,
    )
    expect(wire.replaceAll('\r\n', '')).not.toContain('\n')
    expect(contentOf(body)).toBe(text)
  })

  test('can end properly without [DONE]', async () => {
    const { body, complete } = await askOnce({ stream: { done: false } }, streamed)
    expect(complete).toBe(true)
    expect(dataOf(body)).not.toContain('[DONE]')
  })

  test('mix the choices of n > 1, or keep them separate if configured', async () => {
    const choices = [{ content: 'first answer, longer' }, { content: 'second' }]
    const reply = { choices }
    const stream = { chunk_characters: 4 }
    const mixed = await askOnce({ reply, stream }, { ...streamed, n: 2 })
    const order = chunksOf(mixed.body).map((chunk) => chunk.choices[0]?.index)
    expect(order.slice(0, 4)).toEqual([0, 1, 0, 1])
    expect([contentOf(mixed.body, 0), contentOf(mixed.body, 1)]).toEqual([
      'first answer, longer',
      'second',
    ])
    const apart = await askOnce(
      { reply, stream: { ...stream, interleave: false } },
      { ...streamed, n: 2 },
    )
    const sorted = chunksOf(apart.body).map((chunk) => chunk.choices[0]?.index ?? -1)
    expect(sorted).toEqual(sorted.toSorted((a, b) => a - b))
  })
})

describe('usage in a stream', () => {
  test('is a last chunk without choices when asked, and null before', async () => {
    const { body } = await askOnce({}, streamedWithUsage)
    const chunks = chunksOf(body)
    expect(chunks.at(-1)?.choices).toEqual([])
    expect(chunks.at(-1)?.usage?.total_tokens).toBeGreaterThan(0)
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true)
  })

  test('is omitted when not asked', async () => {
    const { body } = await askOnce({}, streamed)
    expect(body.toString()).not.toContain('usage')
  })

  test('follows the script, overriding the client', async () => {
    const never = await askOnce({ stream: { usage: 'never' } }, streamedWithUsage)
    expect(never.body.toString()).not.toContain('usage')
    const always = await askOnce({ stream: { usage: 'always' } }, streamed)
    expect(chunksOf(always.body).at(-1)?.choices).toEqual([])
  })

  test('is sent beside the choices for gemini, growing', async () => {
    const { body } = await askOnce({ reply: { content: text } }, streamedWithUsage, 'gemini')
    const totals = chunksOf(body).map((chunk) => chunk.usage?.total_tokens ?? 0)
    expect(totals.every((total) => total > 0)).toBe(true)
    expect(totals).toEqual(totals.toSorted((a, b) => a - b))
    expect(chunksOf(body).every((chunk) => chunk.choices.length === 1)).toBe(true)
  })
})

describe('errors of the server itself', () => {
  test.each([
    ['openai', 'code', 'invalid_api_key'],
    ['anthropic', 'type', 'authentication_error'],
    ['gemini', 'status', 'UNAUTHENTICATED'],
  ] as const)('a wrong key gets 401 in the format of %s', async (provider, field, value) => {
    await using server = await testProvider({ script: { required_key: 'right' } })
    const url = `${server.base_urls[provider]}/chat/completions`
    const ask = (key: string) =>
      rawPost(url, { model: 'm', messages }, { authorization: `Bearer ${key}` }).answer
    const refused = await ask('wrong')
    expect(refused.status).toBe(401)
    const parsed = JSON.parse(refused.body.toString())
    const { error } = Array.isArray(parsed) ? parsed[0] : parsed
    expect(error[field]).toBe(value)
    expect(refused.body.toString()).not.toContain('wrong')
    expect((await ask('right')).status).toBe(200)
  })

  test('a server without stream_options reports it', async () => {
    await using server = await testProvider({ script: { knows_stream_options: false } })
    const url = `${server.base_urls.openai}/chat/completions`
    const refused = await rawPost(url, { model: 'm', messages, ...streamedWithUsage }).answer
    expect(refused.status).toBe(400)
    expect(JSON.parse(refused.body.toString()).error.param).toBe('stream_options')
    expect((await rawPost(url, { model: 'm', messages, ...streamed }).answer).status).toBe(200)
  })

  test.each([
    ['no JSON', 'openai', '/chat/completions', 'nonsense', 400],
    ['no messages', 'openai', '/chat/completions', { model: 'm' }, 400],
    ['no prompt', 'openai', '/completions', { model: 'm', messages }, 400],
    ['an unknown path', 'openai', '/embeddings', {}, 404],
    ['legacy completions of anthropic', 'anthropic', '/completions', {}, 404],
    ['n = 2 of anthropic', 'anthropic', '/chat/completions', { model: 'm', messages, n: 2 }, 400],
  ] as const)('%s is refused', async (...refused) => {
    const [, provider, path, body, status] = refused
    await using server = await testProvider()
    const answer = await rawPost(server.base_urls[provider] + path, body).answer
    expect(answer.status).toBe(status)
  })

  test('another method is refused', async () => {
    await using server = await testProvider()
    expect((await fetch(`${server.base_urls.openai}/chat/completions`)).status).toBe(405)
  })

  test('an invalid script is refused, with the position', async () => {
    const script = { steps: [{ delay_ms: -1 }] }
    await expect(testProvider({ script })).rejects.toThrow('/steps/0/delay_ms')
  })
})

describe('scripts', () => {
  test('the first step that matches and has uses left answers, then the echo', async () => {
    await using server = await testProvider({
      script: {
        steps: [
          { match: { last_text_contains: 'parcel' }, times: 1, reply: { content: 'once' } },
          { match: { last_role: 'tool', last_tool_call_id: 'c1' }, reply: { content: 'tool' } },
          { match: { model: 'm-2', stream: false }, reply: { content: 'model' } },
        ],
      },
    })
    const say = async (message: object, model = 'm-1') => {
      const url = `${server.base_urls.openai}/chat/completions`
      const { body } = await rawPost(url, { model, messages: [message] }).answer
      return JSON.parse(body.toString()).choices[0].message.content
    }
    const parcel = { role: 'user', content: [{ type: 'text', text: 'a parcel' }] }
    expect(await say(parcel)).toBe('once')
    expect(await say(parcel)).toBe('You said: a parcel')
    expect(await say({ role: 'tool', tool_call_id: 'c1', content: '{}' })).toBe('tool')
    expect(await say(parcel, 'm-2')).toBe('model')
  })

  test.each([
    [{ provider: 'gemini' }, { provider: 'openai' }],
    [{ endpoint: 'completions' }, { endpoint: 'chat.completions' }],
    [{ stream: false }, { stream: true }],
    [{ model: 'm-2' }, { model: 'm-1' }],
    [{ last_role: 'tool' }, { last_role: 'user' }],
    [{ last_tool_call_id: 'c' }, { last_role: 'user' }],
    [{ last_text_contains: 'Hello' }, { last_text_contains: 'parcel' }],
    [{ any_text_contains: 'refund' }, { any_text_contains: 'Hello' }],
  ] as const)('a step that needs %j is skipped for one that needs %j', async (...wants) => {
    const [other, mine] = wants
    const steps = [
      { match: other, reply: { content: 'wrong' } },
      { match: mine, reply: { content: 'right' } },
    ]
    await using server = await testProvider({ script: { steps } })
    const url = `${server.base_urls.openai}/chat/completions`
    const history = [{ role: 'system', content: 'Hello' }, ...messages]
    const { body } = await rawPost(url, { model: 'm-1', messages: history, ...streamed }).answer
    expect(contentOf(body)).toBe('right')
  })

  test('usage may be set, or omitted', async () => {
    const usage = {
      prompt_tokens: 90,
      completion_tokens: 20,
      cached_tokens: 64,
      reasoning_tokens: 5,
    }
    const set = JSON.parse((await askOnce({ reply: { usage } })).body.toString())
    expect(set.usage).toMatchObject({
      prompt_tokens: 90,
      completion_tokens: 20,
      total_tokens: 110,
      prompt_tokens_details: { cached_tokens: 64 },
      completion_tokens_details: { reasoning_tokens: 5 },
    })
    const none = JSON.parse((await askOnce({ reply: { usage: null } })).body.toString())
    expect(none).not.toHaveProperty('usage')
  })
})

test('a repeatable script gives each request the same bytes', async () => {
  await using provider = await testProvider({ script: { repeatable: true } })
  const ask = async (body: object) => {
    const { answer } = rawPost(`${provider.base_urls.openai}/chat/completions`, body)
    return (await answer).body.toString('utf8')
  }
  for (const body of [
    { model: 'm-1', messages },
    { model: 'm-1', messages, ...streamedWithUsage },
  ]) {
    expect(await ask(body)).toBe(await ask(body))
  }
})
