import type { FieldRule, Source, UsageDetailField } from './contract-shape.ts'
import { phase9OtlpV1x1 } from './phase9-otlp-v1-1.ts'
import { attribute, attributes, otherwise, rule } from './sources.ts'

type Changed =
  | 'cache_read_tokens'
  | 'cache_write_tokens'
  | 'reasoning_tokens'
  | 'total_tokens'
  | 'cost_usd'

const before = phase9OtlpV1x1.span_level.fields
const inDetails = (...path: string[]): Source =>
  attribute('langfuse.observation.usage_details', { path })
const inMetadata = (...path: string[]): Source =>
  attribute('ai.response.providerMetadata', { path })

/**
 * The usage of phase9-otlp-v1.1, with what prices need: parts of the input and output, the service
 * tier, and more names of totals and reported costs.
 *
 * Senders: LiveKit Agents (`input_cached_tokens`, `input_audio_tokens`, `output_audio_tokens`), the
 * agent of browser-use (`input_cache_creation_tokens`), Qwen Code (`thinking_tokens`), LiteLLM
 * (`gen_ai.cost.total_cost`, `litellm.cost.total`), Sentry and Latitude (`gen_ai.usage.total_cost`),
 * OpenInference (`prompt_details.audio`), Pydantic AI (`gen_ai.usage.details.*`).
 *
 * Langfuse's own keys are disjoint: `input` leaves `input_audio_tokens` out.
 */
export const usageFields: Record<Changed | UsageDetailField, FieldRule> = {
  cache_read_tokens: rule('count', [
    ...before.cache_read_tokens.sources,
    ...attributes('gen_ai.usage.input_cached_tokens'),
  ]),
  cache_write_tokens: rule('count', [
    ...before.cache_write_tokens.sources,
    ...attributes('gen_ai.usage.input_cache_creation_tokens'),
  ]),
  reasoning_tokens: rule('count', [
    ...before.reasoning_tokens.sources,
    ...attributes('gen_ai.usage.thinking_tokens'),
  ]),
  total_tokens: rule(
    'count',
    [...before.total_tokens.sources],
    inDetails('total'),
    inDetails('total_tokens'),
    attribute('mlflow.chat.tokenUsage', { path: ['total_tokens'] }),
    attribute('genkit:output', { path: ['usage', 'totalTokens'] }),
  ),
  cost_usd: rule('dollars', [
    ...before.cost_usd.sources,
    ...attributes('gen_ai.usage.total_cost', 'gen_ai.cost.total_cost', 'litellm.cost.total'),
  ]),
  input_audio_tokens: rule(
    'count',
    attributes('llm.token_count.prompt_details.audio', 'gen_ai.usage.input_audio_tokens'),
    attributes('gen_ai.usage.details.input_audio_tokens'),
    attributes('gen_ai.usage.prompt_tokens_details.audio_tokens'),
    inDetails('input_audio_tokens'),
    inDetails('prompt_tokens_details', 'audio_tokens'),
    inDetails('input_tokens_details', 'audio_tokens'),
  ),
  cache_read_audio_tokens: rule(
    'count',
    attributes('gen_ai.usage.details.cache_audio_read_tokens'),
  ),
  output_audio_tokens: rule(
    'count',
    attributes('llm.token_count.completion_details.audio', 'gen_ai.usage.output_audio_tokens'),
    attributes('gen_ai.usage.details.output_audio_tokens'),
    attributes('gen_ai.usage.completion_tokens_details.audio_tokens'),
    inDetails('output_audio_tokens'),
    inDetails('completion_tokens_details', 'audio_tokens'),
    inDetails('output_tokens_details', 'audio_tokens'),
  ),
  input_image_tokens: rule(
    'count',
    inDetails('input_image_tokens'),
    inDetails('prompt_tokens_details', 'image_tokens'),
    inDetails('input_tokens_details', 'image_tokens'),
  ),
  cache_write_5m_tokens: rule(
    'count',
    inMetadata('anthropic', 'usage', 'cache_creation', 'ephemeral_5m_input_tokens'),
    inDetails('cache_creation', 'ephemeral_5m_input_tokens'),
  ),
  cache_write_1h_tokens: rule(
    'count',
    inMetadata('anthropic', 'usage', 'cache_creation', 'ephemeral_1h_input_tokens'),
    inDetails('cache_creation', 'ephemeral_1h_input_tokens'),
  ),
  details_semantics: rule(
    'text',
    attribute('langfuse.observation.usage_details', { path: ['input'], gives: 'exclusive' }),
    otherwise('inclusive'),
  ),
  service_tier: rule(
    'text',
    attributes('openai.response.service_tier', 'gen_ai.openai.response.service_tier'),
    inMetadata('openai', 'serviceTier'),
    inMetadata('anthropic', 'usage', 'service_tier'),
    inDetails('service_tier'),
    attribute('openai.request.service_tier', { except: ['auto'] }),
    attribute('gen_ai.openai.request.service_tier', { except: ['auto'] }),
  ),
  response_id: rule('text', attributes('gen_ai.response.id', 'ai.response.id', 'llm.response.id')),
}
