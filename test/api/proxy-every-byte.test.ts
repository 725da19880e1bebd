import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exchangeToRecords } from '../../src/capabilities/records/exchanges/index.ts'
import { createPricing } from '../../src/capabilities/records/pricing/index.ts'
import { sleep } from '../../src/kernel/time.ts'
import { eventually } from '../support/eventually.ts'
import { goodHeaders } from '../support/proxy.ts'
import { type ProxyServer, proxyServer } from '../support/proxy-server.ts'
import { rawPost } from '../support/raw-post.ts'
import { chunk, type RawUpstream, rawUpstream, streamHead } from '../support/raw-upstream.ts'
import { budget } from '../support/suite/budget.ts'

/** A client whose socket dies after any byte of a streamed answer leaves exactly one record. */
const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`
const event = (name: string, value: object) => `event: ${name}\n${data({ type: name, ...value })}`

const streams = {
  chat: {
    path: '/v1/chat/completions',
    body: { model: 'gpt-4o', stream: true, messages: [{ role: 'user', content: 'hi' }] },
    stream: [
      data({ id: 'c', choices: [{ index: 0, delta: { role: 'assistant', content: 'Grüße' } }] }),
      data({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
      data({ id: 'c', choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }),
      'data: [DONE]\n\n',
    ].join(''),
  },
  responses: {
    path: '/v1/responses',
    body: { model: 'gpt-5', stream: true, input: 'hi' },
    stream: [
      event('response.created', { response: { id: 'r', status: 'in_progress', model: 'gpt-5' } }),
      event('response.output_text.delta', { item_id: 'm', output_index: 0, delta: 'Grüße' }),
      event('response.completed', {
        response: {
          ...{ id: 'r', status: 'completed', model: 'gpt-5' },
          output: [{ type: 'message', content: [{ type: 'output_text', text: 'Grüße' }] }],
          usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
        },
      }),
    ].join(''),
  },
  messages: {
    path: '/v1/messages',
    body: { model: 'claude', max_tokens: 9, stream: true, messages: [] },
    stream: [
      event('message_start', {
        message: { id: 'm', model: 'claude', role: 'assistant', usage: { input_tokens: 3 } },
      }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Grüße' } }),
      event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }),
      event('message_stop', {}),
    ].join(''),
  },
  generate_content: {
    path: '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
    stream: [
      data({ candidates: [{ content: { role: 'model', parts: [{ text: 'Grüße' }] } }] }),
      data({
        candidates: [{ content: { parts: [{ text: '' }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
      }),
    ].join(''),
  },
}

let upstream: RawUpstream
let proxy: ProxyServer
/** The bytes of the body that the provider sends to the next call, before it waits. */
let sent = Buffer.alloc(0)
/** Resolves when the provider has the next call: a client that left before it would leave no record. */
let asked = Promise.withResolvers<void>()

beforeAll(async () => {
  upstream = await rawUpstream((socket) => {
    socket.write(streamHead)
    if (sent.length > 0) socket.write(chunk(sent))
    asked.resolve()
  })
  const { openai } = upstream.base_urls
  proxy = await proxyServer({ base_urls: { openai, anthropic: openai, gemini: openai } })
})
afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]()
  await upstream?.[Symbol.asyncDispose]()
})

/** Calls, leaves when all sent bytes have come, and returns the records of the call. */
async function leaveAfter({ path, body }: { path: string; body: object }, length: number) {
  const before = proxy.exchanges.length
  asked = Promise.withResolvers()
  const post = rawPost(`${proxy.origin}${path}`, body, { ...goodHeaders, 'x-goog-api-key': 'k' })
  await asked.promise
  // The proxy keeps the begin of an event of a chat until it knows that it is not the usage.
  await Promise.race([length > 0 ? post.firstBytes : post.head, sleep(20)])
  post.leave()
  await eventually('the record', () => proxy.exchanges.length > before)
  return proxy.exchanges.slice(before)
}

describe.each(Object.entries(streams))('%s', (_, call) => {
  const bytes = Buffer.from(call.stream)
  const places = budget({ test: 24, soak: bytes.length })
  const step = bytes.length / places

  test('each place leaves one record with the bytes that came', async () => {
    for (let at = 0; at < places; at += 1) {
      sent = bytes.subarray(0, Math.floor(at * step))
      const exchanges = await leaveAfter(call, sent.length)
      expect(exchanges).toHaveLength(1)
      const [exchange] = exchanges
      if (exchange === undefined) throw new Error('no record')
      const { response, facts } = exchange
      expect(bytes.subarray(0, response.length).equals(response)).toBe(true)
      // Nothing follows the mark that ends a chat.
      const hasAll = sent.includes('[DONE]')
      expect(facts.outcome).toBe(hasAll ? 'complete' : 'client_gone')
      const context = { pricing: createPricing(), countTokens: () => 1, response_bytes_max: 1e6 }
      const { observations } = exchangeToRecords(exchange, context)
      expect(observations).toHaveLength(1)
    }
    // A second record would come with the end of its call.
    const counted = proxy.exchanges.length
    const open = await proxy.metrics.expose()
    expect(open.body).toContain('looptrace_proxy_in_flight_calls 0')
    expect(proxy.exchanges).toHaveLength(counted)
  })
})
