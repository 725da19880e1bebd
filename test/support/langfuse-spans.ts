import type { ConventionSpan } from './otlp-conventions.ts'

const json = JSON.stringify
const called = { id: 'call_1', name: 'weather', arguments: '{"city":"Zürich"}' }
const asked = {
  role: 'assistant',
  tool_calls: [{ id: 'call_1', type: 'function', function: called }],
  content: null,
}
const input = {
  tools: [{ type: 'function', function: { name: 'weather', parameters: {} } }],
  messages: [
    { role: 'user', content: 'How warm is it?' },
    { role: 'assistant', content: null, tool_calls: [{ ...asked.tool_calls[0], id: 'call_0' }] },
    { role: 'tool', tool_call_id: 'call_0', content: '7' },
  ],
}
const generation = {
  'langfuse.observation.type': 'generation',
  'langfuse.observation.model.name': 'gpt-5-mini-2025-08-07',
}
/** 2,006 tokens in, of which 1,920 were cached; 300 out, of which 192 were reasoning. */
const buckets = {
  input_uncached_tokens: 86,
  cache_read_tokens: 1_920,
  cache_write_tokens: 0,
  output_visible_tokens: 108,
  reasoning_tokens: 192,
}

/** The usage of one call in each shape that Langfuse's SDKs send. */
export const usageShapes: readonly (readonly [shape: string, usage: object])[] = [
  [
    'what chat completions answer, with details',
    {
      completion_tokens: 300,
      prompt_tokens: 2_006,
      total_tokens: 2_306,
      completion_tokens_details: { audio_tokens: 0, reasoning_tokens: 192 },
      prompt_tokens_details: { audio_tokens: 0, cached_tokens: 1_920 },
    },
  ],
  [
    'what the Responses API answers, with details',
    {
      input_tokens: 2_006,
      input_tokens_details: { cached_tokens: 1_920 },
      output_tokens: 300,
      output_tokens_details: { reasoning_tokens: 192 },
      total_tokens: 2_306,
    },
  ],
  [
    'its own keys',
    {
      input: 86,
      input_cached_tokens: 1_920,
      output: 108,
      output_reasoning_tokens: 192,
      total: 2_306,
    },
  ],
  [
    'its own keys, as its callback handler makes them',
    { input: 86, output: 108, total: 2_306, input_cache_read: 1_920, output_reasoning: 192 },
  ],
]

function generationOf(convention: string, usage: object, row: ConventionSpan['row']) {
  return {
    convention,
    scope: 'langfuse-sdk',
    span: 'OpenAI-generation',
    attributes: { ...generation, 'langfuse.observation.usage_details': json(usage) },
    row,
  }
}

/** Spans of Langfuse's SDKs: its integration of OpenAI, its callback handler, and by hand. */
export const langfuseSpans: readonly ConventionSpan[] = [
  ...usageShapes.map(([shape, usage]) => generationOf(`usage: ${shape}`, usage, buckets)),
  generationOf(
    'usage: totals of chat completions alone',
    { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    { input_uncached_tokens: 10, output_visible_tokens: 5, usage_semantics: 'inclusive' },
  ),
  generationOf(
    'usage: what Anthropic answers, where the cache is on top',
    {
      input_tokens: 10,
      output_tokens: 5,
      cache_read_input_tokens: 7,
      cache_creation_input_tokens: 2,
    },
    {
      ...{ input_uncached_tokens: 10, cache_read_tokens: 7, cache_write_tokens: 2 },
      ...{ output_visible_tokens: 5, usage_semantics: 'exclusive' },
    },
  ),
  generationOf(
    'usage: its own keys, with more output than reasoning',
    { input: 10, output: 300, output_reasoning_tokens: 192 },
    { output_visible_tokens: 300, reasoning_tokens: 192 },
  ),
  generationOf(
    'usage: an embedding',
    { input: 12 },
    { input_uncached_tokens: 12, output_visible_tokens: null },
  ),
  {
    convention: 'OpenAI asks for a tool and was given a result',
    scope: 'langfuse-sdk',
    span: 'OpenAI-generation',
    attributes: {
      ...generation,
      'langfuse.observation.input': json(input),
      'langfuse.observation.output': json(asked),
    },
    row: {
      type: 'generation',
      tool_calls: [called],
      tool_results: [{ tool_call_id: 'call_0', content: '7' }],
    },
  },
  {
    convention: 'an output that holds the whole answer',
    scope: 'langfuse-sdk',
    span: 'OpenAI-generation',
    attributes: {
      ...generation,
      'langfuse.observation.output': json({ choices: [{ index: 0, message: asked }] }),
    },
    row: { tool_calls: [called] },
  },
  {
    convention: 'the Responses API asks for a tool',
    scope: 'langfuse-sdk',
    span: 'OpenAI-generation',
    attributes: {
      ...generation,
      'langfuse.observation.input': json([
        { role: 'user', content: 'How warm is it?' },
        { type: 'function_call', id: 'fc_0', call_id: 'call_0', name: 'weather', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_0', output: '7' },
      ]),
      'langfuse.observation.output': json({
        ...{ type: 'function_call', id: 'fc_1', call_id: 'call_1', status: 'completed' },
        ...{ name: 'weather', arguments: called.arguments },
      }),
    },
    row: {
      tool_calls: [called],
      tool_results: [{ tool_call_id: 'call_0', content: '7' }],
    },
  },
  {
    convention: 'a stream of the older function calls',
    scope: 'langfuse-sdk',
    span: 'OpenAI-generation',
    attributes: {
      ...generation,
      'langfuse.observation.output': json({
        role: 'assistant',
        function_call: { name: 'weather', arguments: called.arguments },
      }),
    },
    row: { tool_calls: [{ ...called, id: '' }] },
  },
  {
    convention: 'a chain repeats what its generation asked for',
    scope: 'langfuse-sdk',
    span: 'agent',
    attributes: {
      'langfuse.observation.type': 'chain',
      'langfuse.observation.output': json({ messages: [asked] }),
    },
    row: { type: 'chain', tool_calls: [] },
  },
  {
    convention: 'a function that is observed as a tool',
    scope: 'langfuse-sdk',
    span: 'look_up',
    attributes: {
      'langfuse.observation.type': 'tool',
      'langfuse.observation.input': json({ args: ['Basel'], kwargs: {} }),
      'langfuse.observation.output': json({ celsius: 7 }),
    },
    row: {
      type: 'tool',
      tool_calls: [{ id: '', name: 'look_up', arguments: '{"args":["Basel"],"kwargs":{}}' }],
      tool_results: [{ tool_call_id: '', content: '{"celsius":7}' }],
    },
  },
]
