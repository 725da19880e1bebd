import type { MappingContract } from './contract-shape.ts'
import { phase9OtlpV1x2 } from './phase9-otlp-v1-2.ts'
import { attribute, rule } from './sources.ts'

/** The whole answer as OpenInference reports it; `path` leads to the id that the provider gave. */
const answer = (...path: string[]) =>
  attribute('output.value', { path, in_scopes: ['openinference.instrumentation.*'], silent: true })

const earlier = phase9OtlpV1x2.span_level

/**
 * phase9-otlp-v1.2 with the stop reasons of Anthropic's own telemetry, and with the ids of responses
 * that OpenInference leaves in the whole answer: without them a call that the proxy records too would
 * count twice. Rows refer to this contract,
 * so the meaning of a source never changes: add a version instead.
 */
export const phase9OtlpV1x3: MappingContract = {
  ...phase9OtlpV1x2,
  version: 'phase9-otlp-v1.3',
  span_level: {
    ...earlier,
    fields: {
      ...earlier.fields,
      finish_reason: rule(
        'text',
        ...earlier.fields.finish_reason.sources,
        attribute('anthropic.message.stop_reason', { table: 'finish_reasons' }),
        attribute('anthropic.session.turn.stop_reason', { table: 'finish_reasons' }),
      ),
      response_id: rule(
        'text',
        ...earlier.fields.response_id.sources,
        answer('id'),
        answer('response_id'),
        answer('generations', '0', '0', 'message', 'kwargs', 'response_metadata', 'id'),
      ),
    },
  },
}
