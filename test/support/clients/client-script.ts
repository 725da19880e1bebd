import type { ScriptInput } from '../../../src/capabilities/demo/index.ts'

type Step = NonNullable<ScriptInput['steps']>[number]

const usage = { prompt_tokens: 90, completion_tokens: 24, cached_tokens: 64, reasoning_tokens: 8 }

const lookUps = [
  { name: 'look_up_order', arguments: { order: 1042, note: 'the customer says “broken” 📦' } },
  { name: 'look_up_order', arguments: { order: 1043 } },
]

/**
 * The provider's answers to the client checks, in Node and in Python: the last message begins with
 * the name of the case. The answers repeat, so that an answer through the service can be compared
 * with one from the provider itself.
 */
export const clientScript: ScriptInput = {
  repeatable: true,
  steps: [
    answers('plain', { content: 'Parcel 7 left Zürich at noon. 📦', usage }),
    answers(
      'long',
      { content: 'Parcel 7 left Zürich at noon. 📦 '.repeat(12), reasoning_content: 'Hm. Yes.' },
      { stream: { chunk_characters: 7, split_at_every_byte: true, crlf: true, comments: 2 } },
    ),
    answers('zipped', { content: 'Small on the wire.', usage }, { gzip: true }),
    {
      match: { last_text_contains: 'Where is parcel 7?' },
      reply: { tool_calls: [{ name: 'track', arguments: { parcel: 7 } }] },
    },
    answers('tools', { content: null, tool_calls: lookUps, usage }),
    { match: { last_role: 'tool' }, reply: { content: 'Both orders are on their way.', usage } },
    answers('several', { choices: [{ content: 'One.' }, { content: 'Two, somewhat longer.' }] }),
    answers('refused', { content: null, refusal: 'No.', extra: { annotations: [], audio: null } }),
    answers('json', { content: '{"city":"Zürich","parcels":[7]}' }),
    fails('status 400', { status: 400, param: 'temperature', code: 'unsupported_value' }),
    fails('status 401', { status: 401, code: 'invalid_api_key' }),
    fails('status 404', { status: 404, code: 'model_not_found' }),
    fails('status 429', { status: 429, headers: { 'retry-after-ms': '1' } }),
    fails('status 500', { status: 500, headers: { 'retry-after-ms': '1' } }),
    fails('status 503', { status: 503, body: '<html>upstream is busy</html>' }),
    answers('error event', { content: 'Half an answ' }, midStreamError('event')),
    answers('error data', { content: 'Half an answ' }, midStreamError('data')),
    answers('error chunk', { content: 'Half an answ' }, midStreamError('chunk')),
    answers('cut', { content: 'Half an answ' }, { stream: { cut_after_chunks: 3 } }),
    answers('no done', { content: 'Whole, but no end.' }, { stream: { done: false } }),
    answers(
      'slow',
      { content: 'word '.repeat(400) },
      { stream: { chunk_characters: 5, delay_ms: 25 } },
    ),
    answers('silent', {}, { stall_before_headers: true }),
  ],
}

function answers(name: string, reply: Step['reply'], how: Partial<Step> = {}): Step {
  return { match: { last_text_contains: `${name}:` }, reply, ...how }
}

function fails(name: string, error: NonNullable<NonNullable<Step['reply']>['error']>): Step {
  return answers(name, { error })
}

function midStreamError(form: 'event' | 'data' | 'chunk'): Partial<Step> {
  return { stream: { chunk_characters: 4, error_mid_stream: { after_chunks: 3, form } } }
}
