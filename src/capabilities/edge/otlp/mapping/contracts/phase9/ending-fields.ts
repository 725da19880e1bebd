import type { FieldRule, SpanFieldName } from '../contract-shape.ts'
import { attribute, attributes, otherwise, rule } from '../sources.ts'

type Name = Extract<
  SpanFieldName,
  | 'finish_reason'
  | 'streamed'
  | 'time_to_first_token_ms'
  | 'status'
  | 'status_code'
  | 'error_type'
  | 'error_message'
  | 'level'
>

/** The progress and the end of the operation. A status of OK overrides errors on the way. */
export const endingFields: Record<Name, FieldRule> = {
  finish_reason: rule(
    'text',
    attribute('gen_ai.response.finish_reasons', {
      transform: 'first_of_list',
      table: 'finish_reasons',
    }),
    attribute('llm.finish_reason', { table: 'finish_reasons' }),
    attribute('ai.response.finishReason', { table: 'finish_reasons' }),
    attribute('stop_reason', { table: 'finish_reasons' }),
    attribute('llm.response.finish_reason', { table: 'finish_reasons' }),
    attribute('gen_ai.completion.0.finish_reason', { table: 'finish_reasons' }),
    attribute('genkit:output', { path: ['finishReason'], table: 'finish_reasons' }),
    {
      from: 'attributes',
      keys: ['gen_ai.output.messages'],
      path: ['0', 'finish_reason'],
      table: 'finish_reasons',
    },
    {
      from: 'event',
      event: 'gen_ai.client.inference.operation.details',
      key: 'gen_ai.output.messages',
      path: ['0', 'finish_reason'],
      table: 'finish_reasons',
    },
    { from: 'event', event: 'gen_ai.choice', key: 'finish_reason', table: 'finish_reasons' },
    attribute('anthropic.message.stop_reason', { table: 'finish_reasons' }),
    attribute('anthropic.session.turn.stop_reason', { table: 'finish_reasons' }),
  ),
  streamed: rule(
    'text',
    attribute('gen_ai.request.stream', { table: 'truth' }),
    attribute('llm.is_streaming', { table: 'truth' }),
    attribute('gen_ai.is_streaming', { table: 'truth' }),
    attribute('llm.invocation_parameters', { path: ['stream'], table: 'truth', silent: true }),
    attribute('ai.operationId', { table: 'ai_streams', silent: true }),
    { from: 'fields', present: ['time_to_first_token_ms'], gives: 'true' },
    otherwise('false'),
  ),
  time_to_first_token_ms: rule(
    'milliseconds',
    attribute('gen_ai.response.time_to_first_chunk', { transform: 'seconds_to_ms' }),
    attribute('gen_ai.client.operation.time_to_first_chunk', { transform: 'seconds_to_ms' }),
    attributes('ai.response.msToFirstChunk'),
    attribute('langfuse.observation.completion_start_time', { transform: 'ms_since_start' }),
    attributes('ttft_ms'),
    { from: 'event', event: 'ai.stream.firstChunk', key: 'ai.response.msToFirstChunk' },
    { from: 'event', event: 'ai.stream.firstChunk', key: '', transform: 'ms_since_start' },
    { from: 'event', event: 'First Token Stream Event', key: '', transform: 'ms_since_start' },
    {
      from: 'event',
      event: 'gen_ai.content.completion.chunk',
      key: '',
      transform: 'ms_since_start',
    },
    { from: 'event', event: 'llm.content.completion.chunk', key: '', transform: 'ms_since_start' },
    // Strands Agents uses the name of the conventions' metric, which is in seconds, for
    // milliseconds.
    attribute('gen_ai.server.time_to_first_token', { in_scopes: ['strands*'] }),
  ),
  status: rule(
    'text',
    { from: 'span', key: 'status', only: ['2'], gives: 'error' },
    { from: 'span', key: 'status', only: ['1'], gives: 'ok' },
    { from: 'event', event: 'exception', key: '', gives: 'error' },
    attribute('error.type', { gives: 'error' }),
    attribute('http.response.status_code', { table: 'http_errors', silent: true }),
    attribute('http.status_code', { table: 'http_errors', silent: true }),
    attribute('langfuse.observation.level', { table: 'error_level', silent: true }),
    otherwise('ok'),
  ),
  status_code: rule('count', attributes('http.response.status_code', 'http.status_code')),
  error_type: rule(
    'text',
    attributes('error.type'),
    { from: 'event', event: 'exception', key: 'exception.type' },
    attributes('exception.type'),
  ),
  error_message: {
    chars_max: 4_096,
    ...rule(
      'text',
      { from: 'span', key: 'status_message' },
      { from: 'event', event: 'exception', key: 'exception.message' },
      attributes('exception.message', 'error.message', 'langfuse.observation.status_message'),
    ),
  },
  level: rule('text', attribute('langfuse.observation.level', { table: 'langfuse_levels' })),
}
