import type { FieldRule, Source, SpanFieldName } from '../contract-shape.ts'
import { attribute, attributes, otherwise, rule } from '../sources.ts'

type Name = Extract<
  SpanFieldName,
  | 'input_audio_tokens'
  | 'cache_read_audio_tokens'
  | 'output_audio_tokens'
  | 'input_image_tokens'
  | 'cache_write_5m_tokens'
  | 'cache_write_1h_tokens'
  | 'details_semantics'
  | 'service_tier'
  | 'response_id'
>

const inDetails = (...path: string[]): Source =>
  attribute('langfuse.observation.usage_details', { path })
const inMetadata = (...path: string[]): Source =>
  attribute('ai.response.providerMetadata', { path })
/** The whole answer as OpenInference reports it; `path` leads to the id that the provider gave. */
const answer = (...path: string[]): Source =>
  attribute('output.value', { path, in_scopes: ['openinference.instrumentation.*'], silent: true })

/**
 * Parts of the input and output and the service tier, which have their own prices; and the id of the
 * response, without which a call that the proxy records too would count twice.
 *
 * Senders: LiveKit Agents (`input_audio_tokens`, `output_audio_tokens`), OpenInference
 * (`prompt_details.audio`), Pydantic AI (`gen_ai.usage.details.*`). Langfuse's own keys are disjoint:
 * `input` leaves `input_audio_tokens` out.
 */
export const usageDetailFields: Record<Name, FieldRule> = {
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
  response_id: rule(
    'text',
    attributes('gen_ai.response.id', 'ai.response.id', 'llm.response.id'),
    answer('id'),
    answer('response_id'),
    answer('generations', '0', '0', 'message', 'kwargs', 'response_metadata', 'id'),
  ),
}
