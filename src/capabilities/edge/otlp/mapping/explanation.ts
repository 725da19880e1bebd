import { problem } from '../../../../kernel/problem.ts'
import type { Observation } from '../../../../model/observation.ts'
import type { CompiledContract, CompiledField } from './compiled-contract.ts'
import { compileContract } from './contract-compiler.ts'
import { type FieldName, type FieldRule, traceFieldNames } from './contracts/contract-shape.ts'
import { contracts } from './contracts/registry.ts'
import { type ReadMappedFrom, readMappedFrom } from './mapped-from.ts'

/** How an observation was mapped. */
export type Explanation = {
  contract_version: string
  /** False when this build does not have the contract; then ranks and reasons are unknown. */
  is_contract_known: boolean
  fields: ExplainedField[]
  /** Keys with content that gave no field; their values are not stored. */
  dropped_content_keys: string[]
  /** Fields that the client did not send, set to a default. */
  defaults: string[]
  /** Fields that were cut. */
  cut: string[]
  /** Fields set from the values themselves, because they contradict the contract. */
  implied: string[]
  /** The prices behind `cost_usd`; empty without a cost. */
  price_version: string
  attributes: { cut: number; dropped: number; dropped_keys: string[] }
}

type ExplainedField = {
  field: string
  level: 'trace' | 'span'
  /** Cut to 200 characters; null when it is empty or not stored on its own. */
  value: string | null
  /** Null when no source gave it. */
  source: string | null
  /**
   * `rule`: a source of the list; `default`: the list's last source; `trace`: another span of the
   * trace.
   */
  given_by: 'rule' | 'default' | 'trace' | 'nothing'
  /** Position of the source in the field's list, from 1. */
  place: number | null
  lost: { key: string; place: number; reason: 'lower_priority' | 'not_usable' }[]
}

/** Explains the source of each field. Throws problem('not_mapped_from_otlp'). */
type Explain = (row: Observation) => Explanation

/** Makes an explainer for rows of these contracts, by default of every one in the registry. */
export function createExplainer(known = contracts): Explain {
  const compiled = new Map(known.map((contract) => [contract.version, compileContract(contract)]))
  return (row) => {
    if (row.source !== 'otlp') {
      const detail = `got a row of "${row.contract_version}", expected a row mapped from OTLP`
      throw problem('not_mapped_from_otlp', { detail })
    }
    return explainRow(row, compiled.get(row.contract_version))
  }
}

function explainRow(row: Observation, compiled: CompiledContract | undefined): Explanation {
  const from = readMappedFrom(row.mapped_from)
  const values = shownValues(row)
  const fields = compiled
    ? compiled.fields
        .filter(({ sources }) => sources.length > 0)
        .map((field) => explainField(field, from, values[field.name]))
    : [...from.given].map(([field, source]) => explainUnknown(field, source, values))
  return {
    contract_version: row.contract_version,
    is_contract_known: compiled !== undefined,
    fields,
    dropped_content_keys: compiled ? findDroppedContent(compiled, fields) : [],
    defaults: from.defaults,
    cut: from.cut,
    implied: from.implied,
    price_version: row.price_version,
    attributes: {
      cut: Number(row.attributes['mapping.cut'] ?? 0),
      dropped: Number(row.attributes['mapping.dropped'] ?? 0),
      dropped_keys: (row.attributes['mapping.dropped_keys'] ?? '').split(',').filter(Boolean),
    },
  }
}

const traceFields: ReadonlySet<string> = new Set(traceFieldNames)

function explainField(field: CompiledField, from: ReadMappedFrom, value: string): ExplainedField {
  const source = from.given.get(field.name)
  const rank = field.sources.findIndex(({ name }) => name === source)
  const given = { field: field.name, level: levelOf(field.name), value: shortText(value) }
  const lost = lostOf(field, rank === -1 ? field.sources.length : rank, from)
  if (rank !== -1) {
    return { ...given, source: source ?? null, given_by: 'rule', place: rank + 1, lost }
  }
  if (value === '') return { ...given, source: null, given_by: 'nothing', place: null, lost }
  const last = field.sources.findIndex(({ is_default }) => is_default)
  const isOfTrace = levelOf(field.name) === 'trace' && !isDefaultValue(field, value)
  if (isOfTrace || last === -1) {
    return { ...given, source: null, given_by: isOfTrace ? 'trace' : 'nothing', place: null, lost }
  }
  const name = field.sources[last]?.name ?? null
  return { ...given, source: name, given_by: 'default', place: last + 1, lost }
}

/**
 * Returns true for a value of the request; any other value without a source in this span came from
 * another span of the trace.
 */
function isDefaultValue(field: CompiledField, value: string): boolean {
  if (field.name === 'environment' || field.name === 'release') return true
  return field.name === 'task_id' && value.endsWith(implicitTask)
}

function lostOf(field: CompiledField, rank: number, from: ReadMappedFrom): ExplainedField['lost'] {
  const isUngiven = rank === field.sources.length
  return field.sources.flatMap(({ name, hit }, place) => {
    if (hit === -1 || place === rank || !from.lost.includes(name)) return []
    const reason = place < rank || isUngiven ? 'not_usable' : 'lower_priority'
    return [{ key: name, place: place + 1, reason }]
  })
}

function explainUnknown(
  field: string,
  source: string,
  values: Readonly<Record<string, string>>,
): ExplainedField {
  const value = shortText(values[field] ?? '')
  return { field, level: levelOf(field), value, source, given_by: 'rule', place: null, lost: [] }
}

function levelOf(field: string): 'trace' | 'span' {
  return traceFields.has(field) ? 'trace' : 'span'
}

const value_chars_max = 200

function shortText(value: string): string | null {
  if (value === '') return null
  return value.length <= value_chars_max ? value : `${value.slice(0, value_chars_max)}…`
}

/** Returns the keys of unused sources of content fields, except those that gave another field. */
function findDroppedContent({ contract }: CompiledContract, fields: readonly ExplainedField[]) {
  const rules: Partial<Record<string, FieldRule>> = {
    ...contract.trace_level.fields,
    ...contract.span_level.fields,
  }
  const used = new Set(fields.map(({ source }) => keyOf(source ?? '')))
  const lost = fields
    .filter(({ field }) => rules[field]?.reads === 'content')
    .flatMap((field) => field.lost.map(({ key }) => key))
  return [...new Set(lost)].filter((key) => !used.has(keyOf(key)))
}

/** Removes the types of spans from the name of a source. */
function keyOf(source: string): string {
  const at = source.indexOf('@')
  return at === -1 ? source : source.slice(0, at)
}

/** Suffix of a task id that is the id of the trace. */
const implicitTask = ' (the trace)'

/** Returns the value of each field of a contract in the row; '' without one. */
function shownValues(row: Observation): Record<FieldName, string> {
  const tool = row.type === 'tool' ? row.tool_calls[0] : undefined
  return {
    ...callValues(row),
    ...usageValues(row),
    ...endingValues(row),
    task_id: row.task_implicit ? `${row.task_id}${implicitTask}` : row.task_id,
    task_name: row.task_name,
    conversation_id: row.conversation_external_id || row.conversation_id,
    user_id: row.user_id,
    environment: row.environment,
    release: row.release,
    trace_name: '',
    trace_input: '',
    trace_output: '',
    input: row.input,
    output: row.output,
    tool_name: tool?.name ?? '',
    tool_call_id: tool?.id ?? '',
    tool_calls: row.tool_calls.length === 0 ? '' : JSON.stringify(row.tool_calls),
    tool_results: row.tool_results.length === 0 ? '' : JSON.stringify(row.tool_results),
  }
}

function callValues(row: Observation) {
  const { type, model, model_requested, provider, endpoint, agent_name, service_name } = row
  return { type, model, model_requested, provider, endpoint, agent_name, service_name }
}

function usageValues(row: Observation) {
  const input = sumOf(row.input_uncached_tokens, row.cache_read_tokens, row.cache_write_tokens)
  return {
    input_tokens:
      row.usage_semantics === 'exclusive' ? numberText(row.input_uncached_tokens) : input,
    output_tokens: sumOf(row.output_visible_tokens, row.reasoning_tokens),
    cache_read_tokens: numberText(row.cache_read_tokens),
    cache_write_tokens: numberText(row.cache_write_tokens),
    reasoning_tokens: numberText(row.reasoning_tokens),
    total_tokens: '',
    usage_semantics: row.usage_semantics,
    output_semantics: '',
    cost_usd: row.cost_reported_usd ?? row.cost_usd ?? '',
    ...detailValues(row),
  }
}

/** Counts of audio and images of a field have the part that was read from a cache. */
function detailValues({ usage_details: details, service_tier, response_id }: Observation) {
  const { input_audio, cache_read_audio, input_image, cache_read_image } = details
  return {
    input_audio_tokens: sumOf(input_audio ?? null, cache_read_audio ?? null),
    cache_read_audio_tokens: numberText(cache_read_audio ?? null),
    output_audio_tokens: numberText(details['output_audio'] ?? null),
    input_image_tokens: sumOf(input_image ?? null, cache_read_image ?? null),
    cache_write_5m_tokens: numberText(details['cache_write_5m'] ?? null),
    cache_write_1h_tokens: numberText(details['cache_write_1h'] ?? null),
    details_semantics: '',
    service_tier,
    response_id,
  }
}

function endingValues(row: Observation) {
  return {
    finish_reason: row.finish_reason,
    streamed: `${row.streamed}`,
    time_to_first_token_ms: numberText(row.time_to_first_token_ms),
    status: row.status,
    status_code: row.status_code === 0 ? '' : `${row.status_code}`,
    error_type: row.error_type,
    error_message: row.error_message,
    level: row.level,
  }
}

function numberText(value: number | null): string {
  return value === null ? '' : `${value}`
}

function sumOf(...values: (number | null)[]): string {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? '' : `${known.reduce((sum, value) => sum + value, 0)}`
}
