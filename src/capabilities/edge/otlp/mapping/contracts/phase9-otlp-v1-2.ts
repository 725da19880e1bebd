import type { MappingContract } from './contract-shape.ts'
import { phase9OtlpV1x1 } from './phase9-otlp-v1-1.ts'
import { usageFields } from './usage-fields-v1-2.ts'

/**
 * phase9-otlp-v1.1 with the usage and the costs that prices need. Rows refer to this contract, so the
 * meaning of a source never changes: add a version instead.
 */
export const phase9OtlpV1x2: MappingContract = {
  ...phase9OtlpV1x1,
  version: 'phase9-otlp-v1.2',
  span_level: {
    ...phase9OtlpV1x1.span_level,
    fields: { ...phase9OtlpV1x1.span_level.fields, ...usageFields },
  },
}
