import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import type { ProviderName, ScriptInput } from '../../src/capabilities/demo/index.ts'
import { eventually } from '../support/eventually.ts'
import { testProvider } from '../support/provider.ts'

const messages = [{ role: 'user' as const, content: 'Refund order 19?' }]
const tools = [
  { type: 'function' as const, function: { name: 'look_up', parameters: { type: 'object' } } },
]

async function clientFor(
  provider: ProviderName,
  script: ScriptInput = {},
): Promise<{ client: OpenAI; server: Awaited<ReturnType<typeof testProvider>> } & AsyncDisposable> {
  const server = await testProvider({ script })
  const client = new OpenAI({
    baseURL: server.base_urls[provider],
    apiKey: 'provider-key',
    maxRetries: 0,
  })
  return { client, server, [Symbol.asyncDispose]: () => server.stop() }
}

const callsTwoTools = {
  tool_calls: [
    { name: 'look_up', arguments: { order: 19, note: 'the customer says it came broken' } },
    { name: 'look_up', arguments: { order: 20, note: 'and this one, too' } },
  ],
}

describe.each(['openai', 'anthropic', 'gemini'] as const)(
  'the openai package at %s',
  (provider) => {
    test('gets an answer in one piece', async () => {
      await using at = await clientFor(provider, { steps: [{ reply: { content: 'Yes.' } }] })
      const answer = await at.client.chat.completions.create({ model: 'm', messages })
      expect(answer).toMatchObject({ object: 'chat.completion', model: 'm' })
      expect(answer.choices[0]).toMatchObject({
        index: 0,
        finish_reason: 'stop',
        message: { role: 'assistant', content: 'Yes.' },
      })
      const { prompt_tokens, completion_tokens, total_tokens } = answer.usage ?? {}
      expect(total_tokens).toBe((prompt_tokens ?? 0) + (completion_tokens ?? 0))
    })

    test('gets the same answer as a stream', async () => {
      const content = 'Yes: order 19 may be refunded, since it came broken. ✅'
      await using at = await clientFor(provider, { steps: [{ reply: { content } }] })
      const stream = await at.client.chat.completions.create({ model: 'm', messages, stream: true })
      const heard: string[] = []
      for await (const chunk of stream) heard.push(chunk.choices[0]?.delta.content ?? '')
      expect(heard.join('')).toBe(content)
      expect(heard.filter((part) => part !== '').length).toBeGreaterThan(1)
    })

    test('gets tool calls', async () => {
      await using at = await clientFor(provider, { steps: [{ reply: callsTwoTools }] })
      const answer = await at.client.chat.completions.create({ model: 'm', messages, tools })
      const calls = answer.choices[0]?.message.tool_calls ?? []
      expect(answer.choices[0]?.finish_reason).toBe('tool_calls')
      expect(calls.map((call) => call.type === 'function' && call.function)).toEqual(
        callsTwoTools.tool_calls.map(({ name, arguments: value }) => ({
          name,
          arguments: JSON.stringify(value),
        })),
      )
      expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
    })

    test('gets errors of the right class', async () => {
      const failing = (status: number) => ({ times: 1, reply: { error: { status } } })
      const steps = [failing(429), failing(500), failing(400)]
      await using at = await clientFor(provider, { steps })
      const ask = () => at.client.chat.completions.create({ model: 'm', messages })
      await expect(ask()).rejects.toThrow(OpenAI.RateLimitError)
      await expect(ask()).rejects.toThrow(OpenAI.InternalServerError)
      await expect(ask()).rejects.toThrow(OpenAI.BadRequestError)
      at.server.script({ required_key: 'another' })
      await expect(ask()).rejects.toThrow(OpenAI.AuthenticationError)
    })
  },
)

test('streamed tool calls add up in the package, in each format', async () => {
  for (const tool_calls of ['pieces', 'whole', 'id_every_time'] as const) {
    const steps = [{ reply: callsTwoTools, stream: { tool_calls } }]
    await using at = await clientFor('openai', { steps })
    const chunks = await at.client.chat.completions.create({ model: 'm', messages, stream: true })
    const texts = ['', '']
    const ids: Set<string>[] = [new Set(), new Set()]
    for await (const chunk of chunks) {
      for (const call of chunk.choices[0]?.delta.tool_calls ?? []) {
        texts[call.index] += call.function?.arguments ?? ''
        if (call.id) ids[call.index]?.add(call.id)
      }
    }
    const expected = callsTwoTools.tool_calls.map((call) => call.arguments)
    expect(texts.map((text) => JSON.parse(text))).toEqual(expected)
    expect(ids.map((set) => set.size)).toEqual([1, 1])
  }
})

test('the package accumulates a streamed answer with tool calls itself', async () => {
  const reply = { content: 'One moment.', ...callsTwoTools }
  await using at = await clientFor('openai', { steps: [{ reply }] })
  const stream = at.client.chat.completions.stream({ model: 'm', messages })
  const final = await stream.finalChatCompletion()
  expect(final.choices[0]?.message.content).toBe('One moment.')
  expect(final.choices[0]?.message.tool_calls).toHaveLength(2)
})

test('gemini omits the index of streamed tool calls and adds a thought signature', async () => {
  await using at = await clientFor('gemini', { steps: [{ reply: callsTwoTools }] })
  const stream = await at.client.chat.completions.create({ model: 'm', messages, stream: true })
  const calls = (await Array.fromAsync(stream)).flatMap(
    (chunk) => chunk.choices[0]?.delta.tool_calls ?? [],
  )
  expect(calls).toHaveLength(2)
  for (const call of calls) {
    expect(call).not.toHaveProperty('index')
    expect(call).toHaveProperty('extra_content.google.thought_signature')
    expect(JSON.parse(call.function?.arguments ?? '')).toHaveProperty('order')
  }
})

test('n = 2 gives two choices, streamed too', async () => {
  await using at = await clientFor('openai')
  const answer = await at.client.chat.completions.create({ model: 'm', messages, n: 2 })
  expect(answer.choices.map(({ index, message }) => [index, message.content])).toEqual([
    [0, 'You said: Refund order 19?'],
    [1, 'You said: Refund order 19? (2)'],
  ])
  const stream = await at.client.chat.completions.create({
    model: 'm',
    messages,
    n: 2,
    stream: true,
  })
  const heard = ['', '']
  for await (const { choices } of stream) {
    for (const { index, delta } of choices) heard[index] += delta.content ?? ''
  }
  expect(heard).toEqual(answer.choices.map(({ message }) => message.content))
})

test('legacy completions take a prompt or several, streamed too', async () => {
  await using at = await clientFor('openai')
  const one = await at.client.completions.create({ model: 'm', prompt: 'once upon' })
  expect(one).toMatchObject({ object: 'text_completion', choices: [{ text: ' once upon' }] })
  const more = await at.client.completions.create({ model: 'm', prompt: ['a', 'b'], n: 2 })
  expect(more.choices.map(({ index, text }) => [index, text])).toEqual([
    [0, ' a'],
    [1, ' a (2)'],
    [2, ' b'],
    [3, ' b (2)'],
  ])
  const prompt = 'a longer beginning of a tale'
  const stream = await at.client.completions.create({ model: 'm', prompt, stream: true })
  const chunks = await Array.fromAsync(stream)
  expect(chunks.map(({ choices }) => choices[0]?.text).join('')).toBe(` ${prompt}`)
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop')
})

test('a demanded tool is called without a script', async () => {
  await using at = await clientFor('openai')
  const answer = await at.client.chat.completions.create({
    model: 'm',
    messages,
    tools,
    tool_choice: 'required',
  })
  expect(answer.choices[0]?.message.tool_calls?.[0]).toMatchObject({
    function: { name: 'look_up', arguments: '{}' },
  })
})

test('reasoning and refusal have their own fields', async () => {
  const reply = { reasoning_content: 'Not mine to say.', refusal: 'I can not help with that.' }
  await using at = await clientFor('openai', { steps: [{ reply }] })
  const answer = await at.client.chat.completions.create({ model: 'm', messages })
  expect(answer.choices[0]?.message).toMatchObject({ content: null, ...reply })
  expect(answer.usage?.completion_tokens_details?.reasoning_tokens).toBe(4)
  const stream = await at.client.chat.completions.create({ model: 'm', messages, stream: true })
  const deltas = (await Array.fromAsync(stream)).map(
    (chunk): Record<string, unknown> => ({ ...chunk.choices[0]?.delta }),
  )
  const heard = (field: string) => deltas.map((delta) => delta[field] ?? '').join('')
  expect({ reasoning_content: heard('reasoning_content'), refusal: heard('refusal') }).toEqual(
    reply,
  )
})

test('an error in mid-stream reaches the caller of the package', async () => {
  const stream = { error_mid_stream: { after_chunks: 1, message: 'out of luck' } }
  await using at = await clientFor('openai', { steps: [{ stream }] })
  const chunks = await at.client.chat.completions.create({ model: 'm', messages, stream: true })
  await expect(Array.fromAsync(chunks)).rejects.toThrow('out of luck')
})

test('a caller that aborts its stream is seen to disconnect', async () => {
  await using at = await clientFor('openai', { steps: [{ stream: { stall_after_chunks: 2 } }] })
  const stream = await at.client.chat.completions.create({ model: 'm', messages, stream: true })
  for await (const _ of stream) break
  await eventually('the abort', () => at.server.seen().aborted === 1)
})
