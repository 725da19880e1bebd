import type OpenAI from 'openai'
import { expect } from 'vitest'
import { heardBefore, outcomeOf } from './node-outcome.ts'

/** An action of a user of the package, and its expected result. */
export type NodeCheck = {
  name: string
  run: (client: OpenAI) => Promise<unknown>
  /** A part of the result of `run`. */
  shows: unknown
  /** The task afterwards; by default one call without an error. */
  task?: { calls?: number; errors?: number; cancelled?: number }
}

/** Checks whose result is the same from the service and from the provider itself. */
export const nodeChecks: readonly NodeCheck[] = [
  answer('plain', { shows: content('Parcel 7 left Zürich at noon. 📦') }),
  answer('zipped', { shows: content('Small on the wire.') }),
  answer('refused', { shows: { choices: [{ message: { refusal: 'No.', content: null } }] } }),
  answer('several', { more: { n: 2 }, shows: { choices: [{ index: 0 }, { index: 1 }] } }),
  answer('tools', { shows: { choices: [{ finish_reason: 'tool_calls' }] } }),
  stream('plain', {}),
  stream('plain', { more: { stream_options: { include_usage: true } }, named: 'with usage' }),
  stream('plain', { more: { stream_options: { include_usage: false } }, named: 'without usage' }),
  stream('long', {}),
  // The service cannot remove the usage from an answer that a provider compresses unasked.
  stream('zipped', { more: { stream_options: { include_usage: true } } }),
  stream('several', { more: { n: 2 } }),
  stream('tools', {}),
  stream('no done', {}),
  brokenStream('error event', { task: { errors: 1 } }),
  brokenStream('error data', { task: { errors: 1 } }),
  brokenStream('error chunk', { task: { errors: 1 } }),
  failure('status 400', { error: { name: 'BadRequestError', param: 'temperature' } }),
  failure('status 401', { error: { name: 'AuthenticationError', code: 'invalid_api_key' } }),
  failure('status 404', { error: { name: 'NotFoundError' } }),
  failure('status 429', { error: { name: 'RateLimitError', status: 429 } }),
  failure('status 500', { error: { name: 'InternalServerError', status: 500 } }),
  failure('status 503', { error: { name: 'InternalServerError', status: 503 } }),
  {
    name: 'the retries of the package',
    run: (client) => outcomeOf(() => create(client, 'status 429', {}, { maxRetries: 2 })),
    shows: { error: { name: 'RateLimitError' } },
    task: { calls: 3, errors: 3 },
  },
  {
    name: 'a parsed answer',
    run: (client) => {
      const response_format = { type: 'json_object' as const }
      return client.chat.completions.parse({ ...saying('json'), response_format })
    },
    shows: content('{"city":"Zürich","parcels":[7]}'),
  },
  {
    name: 'the stream helper',
    run: (client) => client.chat.completions.stream(streaming('long')).finalChatCompletion(),
    shows: { choices: [{ finish_reason: 'stop' }] },
  },
  { name: 'the tool runner', run: toolRun, shows: { orders: [1042, 1043] }, task: { calls: 2 } },
  {
    name: 'a legacy completion',
    run: (client) => client.completions.create({ model, prompt: 'plain: and then', n: 2 }),
    shows: { object: 'text_completion', choices: [{ index: 0 }, { index: 1 }] },
  },
  {
    name: 'a streamed legacy completion',
    run: (client) =>
      heardBefore(client.completions.create({ model, prompt: 'long: and then', stream: true })),
    shows: { chunks: expect.arrayContaining([chunkLike('text_completion')]) },
  },
  {
    name: 'an abort in a stream',
    run: (client) => heardBefore(client.chat.completions.create(streaming('slow')), 3),
    shows: { chunks: [{}, {}, {}] },
    task: { cancelled: 1 },
  },
  {
    name: 'an abort before the first byte',
    run: (client) => outcomeOf(() => create(client, 'silent', {}, { timeout: 300 })),
    shows: { error: { name: 'APIConnectionTimeoutError' } },
    task: { cancelled: 1 },
  },
]

const model = 'gpt-4.1-mini'
type More = Partial<OpenAI.ChatCompletionCreateParamsNonStreaming>

/** A request that gets the answer of a case of `clientScript`. */
function saying(name: string): OpenAI.ChatCompletionCreateParamsNonStreaming {
  const question = `${name}: where is parcel 7?`
  return {
    model,
    messages: [
      { role: 'system', content: 'You track parcels.' },
      { role: 'user', content: question },
    ],
    ...(name === 'tools' && { tools: [lookUp], parallel_tool_calls: true }),
  }
}

const lookUp = {
  type: 'function' as const,
  function: {
    name: 'look_up_order',
    description: 'Looks an order up.',
    parameters: { type: 'object', properties: { order: { type: 'integer' } } },
  },
}

function streaming(name: string, more: Partial<OpenAI.ChatCompletionCreateParamsStreaming> = {}) {
  return { ...saying(name), ...more, stream: true as const }
}

function create(
  client: OpenAI,
  name: string,
  more: More = {},
  options: OpenAI.RequestOptions = {},
): Promise<unknown> {
  return client.chat.completions.create({ ...saying(name), ...more }, options)
}

function answer(name: string, { shows, more }: { shows: unknown; more?: More }): NodeCheck {
  return { name: `answer: ${name}`, run: (client) => create(client, name, more), shows }
}

function stream(
  name: string,
  { named, more }: { named?: string; more?: Partial<OpenAI.ChatCompletionCreateParamsStreaming> },
): NodeCheck {
  return {
    name: `stream: ${name}${named === undefined ? '' : `, ${named}`}`,
    run: (client) => heardBefore(client.chat.completions.create(streaming(name, more))),
    shows: { chunks: expect.arrayContaining([chunkLike('chat.completion.chunk')]) },
  }
}

function brokenStream(name: string, { task }: Pick<NodeCheck, 'task'>): NodeCheck {
  const run = (client: OpenAI) => heardBefore(client.chat.completions.create(streaming(name)))
  const shows = { chunks: expect.arrayContaining([chunkLike('chat.completion.chunk')]) }
  return { name: `broken stream: ${name}`, run, shows, ...(task && { task }) }
}

function failure(name: string, shows: { error: object }): NodeCheck {
  const run = (client: OpenAI) => outcomeOf(() => create(client, name))
  return { name: `failure: ${name}`, run, shows, task: { errors: 1 } }
}

function content(text: string): unknown {
  return { choices: [{ message: { role: 'assistant', content: text } }] }
}

function chunkLike(object: string): unknown {
  return expect.objectContaining({ object })
}

/** The package calls our function, sends its results, and repeats until the model is done. */
async function toolRun(client: OpenAI): Promise<unknown> {
  const orders: number[] = []
  const runner = client.chat.completions.runTools({
    ...saying('tools'),
    tools: [
      {
        type: 'function',
        function: {
          ...lookUp.function,
          parse: JSON.parse,
          function: ({ order }: { order: number }) => {
            orders.push(order)
            return `${order} is in Basel.`
          },
        },
      },
    ],
  })
  return { final: await runner.finalContent(), messages: runner.messages, orders }
}
