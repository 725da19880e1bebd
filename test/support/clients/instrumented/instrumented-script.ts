import type { ScriptInput } from '../../../../src/capabilities/demo/index.ts'

/** The model that programs request, and the model that the provider names in its answer. */
export const askedModel = 'gpt-4.1-mini'
export const answeredModel = 'gpt-4.1-mini-2025-04-14'

/** OpenAI's counts: cached tokens are a part of the prompt, reasoning tokens of the completion. */
const usage = { prompt_tokens: 90, completion_tokens: 24, cached_tokens: 64, reasoning_tokens: 8 }

/** The provider's usage when it answers after a tool's result. */
const usageAfterTool = { prompt_tokens: 120, completion_tokens: 11, cached_tokens: 0 }

/** The provider's answers to the instrumented programs: the last message begins with the case. */
export const instrumentedScript: ScriptInput = {
  steps: [
    {
      match: { last_role: 'tool' },
      reply: { content: 'It is 7 °C in Zürich.', usage: usageAfterTool, model: answeredModel },
    },
    {
      match: { last_text_contains: 'tools:' },
      reply: {
        content: null,
        tool_calls: [{ id: 'call_weather_1', name: 'weather', arguments: '{"city":"Zürich"}' }],
        usage,
        model: answeredModel,
      },
    },
    {
      match: { last_text_contains: 'stream:' },
      reply: { content: 'Parcel 7 left Zürich at noon. 📦', usage, model: answeredModel },
      stream: { chunk_characters: 5, first_delay_ms: 20 },
    },
    {
      match: { last_text_contains: 'refused:' },
      reply: { error: { status: 400, code: 'unsupported_value', param: 'temperature' } },
    },
    { reply: { content: 'Parcel 7 left Zürich at noon. 📦', usage, model: answeredModel } },
  ],
}
