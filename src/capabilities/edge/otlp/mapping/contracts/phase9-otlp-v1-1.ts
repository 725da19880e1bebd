import type { MappingContract } from './contract-shape.ts'
import { phase9OtlpV1 } from './phase9-otlp-v1.ts'
import { callFields } from './phase9-v1-1/call-fields.ts'
import { contentFields } from './phase9-v1-1/content-fields.ts'
import { endingFields } from './phase9-v1-1/ending-fields.ts'
import { traceFields } from './phase9-v1-1/trace-fields.ts'
import { usageFields } from './phase9-v1-1/usage-fields.ts'
import { valueTables } from './phase9-v1-1/value-tables.ts'

/**
 * The first contract, revised: spans of tools are read as calls with a result (Strands Agents,
 * LangChain), usage and tool calls of Langfuse are found in each of its shapes. Everything else is as
 * in the first. Rows name this contract, so it never changes what a source means: add a version.
 */
export const phase9OtlpV1x1: MappingContract = {
  ...phase9OtlpV1,
  version: 'phase9-otlp-v1.1',
  trace_level: { fields: traceFields },
  span_level: {
    ...phase9OtlpV1.span_level,
    fields: { ...callFields, ...contentFields, ...usageFields, ...endingFields },
  },
  tables: valueTables,
}
