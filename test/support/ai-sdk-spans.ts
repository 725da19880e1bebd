import type { ConventionSpan } from './otlp-conventions.ts'

const json = JSON.stringify
const question = [{ role: 'user', parts: [{ type: 'text', content: 'How warm is it?' }] }]
const toolCall = { type: 'tool_call', id: 'call_1', name: 'weather', arguments: { city: 'Zürich' } }
const asking = [{ role: 'assistant', parts: [toolCall], finish_reason: 'tool_call' }]
const called = { id: 'call_1', name: 'weather', arguments: '{"city":"Zürich"}' }

/** Spans of the AI SDK, with some keys fewer than the SDK sends. */
export const aiSdkSpans: readonly ConventionSpan[] = [
  {
    convention: 'AI SDK 7: a model call that streams',
    scope: 'gen_ai',
    span: 'chat gpt-4.1-mini',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4.1-mini',
      'gen_ai.response.model': 'gpt-4.1-mini-2025-04-14',
      'gen_ai.input.messages': json(question),
      'gen_ai.output.messages': json(asking),
      'gen_ai.response.finish_reasons': ['tool_call'],
      'gen_ai.client.operation.time_to_first_chunk': 0.068,
      'gen_ai.usage.input_tokens': 90,
      'gen_ai.usage.output_tokens': 24,
      'gen_ai.usage.cache_read.input_tokens': 64,
    },
    row: {
      type: 'generation',
      provider: 'openai',
      model_requested: 'gpt-4.1-mini',
      model: 'gpt-4.1-mini-2025-04-14',
      input: json(question),
      output: json(asking),
      tool_calls: [called],
      finish_reason: 'tool_calls',
      streamed: true,
      time_to_first_token_ms: 68,
      input_uncached_tokens: 26,
      cache_read_tokens: 64,
      output_visible_tokens: 24,
    },
  },
  {
    convention: 'AI SDK 7: a step of an agent',
    scope: 'gen_ai',
    span: 'step 1',
    attributes: { 'gen_ai.operation.name': 'agent_step', 'http.response.status_code': 400 },
    status: { code: 2, message: 'refused' },
    row: { type: 'chain', status: 'error', status_code: 400, error_message: 'refused' },
  },
  {
    convention: 'AI SDK before 7 (LegacyOpenTelemetry)',
    scope: 'ai',
    span: 'ai.streamText.doStream',
    attributes: {
      'ai.operationId': 'ai.streamText.doStream',
      'ai.model.provider': 'openai.chat',
      'ai.model.id': 'gpt-4.1-mini',
      'ai.response.model': 'gpt-4.1-mini-2025-04-14',
      'ai.prompt.messages': json([
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'call_1',
              toolName: 'weather',
              output: { type: 'json', value: { celsius: 7 } },
            },
          ],
        },
      ]),
      'ai.response.text': 'It is 7 °C.',
      'ai.response.finishReason': 'stop',
      'ai.response.msToFirstChunk': 77.4,
      'ai.usage.inputTokens': 120,
      'ai.usage.outputTokens': 20,
      'ai.usage.cachedInputTokens': 100,
      'ai.usage.reasoningTokens': 5,
      'ai.telemetry.metadata.sessionId': 'chat 7',
      'ai.telemetry.metadata.userId': 'ada',
      'ai.telemetry.metadata.plan': 'free',
    },
    row: {
      type: 'generation',
      provider: 'openai',
      model_requested: 'gpt-4.1-mini',
      model: 'gpt-4.1-mini-2025-04-14',
      output: 'It is 7 °C.',
      tool_results: [{ tool_call_id: 'call_1', content: '{"celsius":7}' }],
      streamed: true,
      time_to_first_token_ms: 77.4,
      input_uncached_tokens: 20,
      cache_read_tokens: 100,
      output_visible_tokens: 15,
      reasoning_tokens: 5,
      conversation_external_id: 'chat 7',
      user_id: 'ada',
      metadata: { plan: 'free' },
    },
  },
  ...[
    { release: '5, whose input leaves out what was cached', input_tokens: 3_000 },
    { release: '6, whose input holds it', input_tokens: 4_500 },
  ].map(
    ({ release, input_tokens }): ConventionSpan => ({
      convention: `AI SDK ${release}: a model of Anthropic`,
      scope: 'ai',
      span: 'ai.generateText.doGenerate',
      attributes: {
        'ai.operationId': 'ai.generateText.doGenerate',
        'ai.model.provider': 'anthropic.messages',
        'ai.model.id': 'claude-sonnet-4-5',
        'ai.usage.inputTokens': input_tokens,
        'ai.usage.cachedInputTokens': 1_000,
        'ai.usage.outputTokens': 40,
        'gen_ai.usage.input_tokens': input_tokens,
        'gen_ai.usage.output_tokens': 40,
        'ai.response.providerMetadata': json({
          anthropic: {
            usage: {
              input_tokens: 3_000,
              cache_creation_input_tokens: 500,
              cache_read_input_tokens: 1_000,
              output_tokens: 40,
            },
          },
        }),
      },
      row: {
        type: 'generation',
        provider: 'anthropic',
        input_uncached_tokens: 3_000,
        cache_read_tokens: 1_000,
        cache_write_tokens: 500,
        output_visible_tokens: 40,
        usage_semantics: 'exclusive',
      },
    }),
  ),
]
