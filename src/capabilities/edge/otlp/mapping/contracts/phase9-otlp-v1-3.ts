import type { MappingContract } from './contract-shape.ts'
import { phase9OtlpV1x2 } from './phase9-otlp-v1-2.ts'
import { attribute, rule } from './sources.ts'

const earlier = phase9OtlpV1x2.span_level

/**
 * phase9-otlp-v1.2 with the stop reasons of Anthropic's own telemetry. Rows refer to this contract,
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
    },
  },
}
