import { type JsonObject, objectFrom, parsedJson } from '../../../../kernel/json-values.ts'
import { OtlpDecodeError, type OtlpRequest } from '../contract.ts'
import { emptyResource, emptyScope } from '../decode/items.ts'
import { jsonTextOf } from '../decode/json/decoder.ts'
import { defaultDecodeLimits, Tally } from '../decode/tally.ts'

/** A call as LiteLLM's callback `generic_api` sends it (StandardLoggingPayload). */
export type LiteLlmCall = {
  /** Empty: the trace is derived from the call when it is mapped. */
  trace_id: string
  /** The id of the call. */
  call_id: string
  payload: JsonObject
}

/**
 * Decodes a batch: a JSON list, one object, or an object on each line. Rejects items without an id
 * or a start. Throws OtlpDecodeError.
 */
export function decodeLiteLlm(body: Buffer): OtlpRequest<LiteLlmCall> {
  const tally = new Tally(defaultDecodeLimits)
  const items: LiteLlmCall[] = []
  for (const item of itemsIn(jsonTextOf(body, tally))) {
    if (!tally.takesItem()) continue
    const payload = objectFrom(item)
    const call_id = payload?.['litellm_call_id'] ?? payload?.['id']
    const start = payload?.['startTime']
    if (payload === undefined || typeof call_id !== 'string' || typeof start !== 'number') {
      tally.reject('invalid_item', 'expected an object with litellm_call_id and startTime')
    } else items.push({ trace_id: '', call_id, payload })
  }
  const groups = items.length === 0 ? [] : [{ resource: liteLlm(), scope: scopeOfLiteLlm(), items }]
  return tally.request(groups)
}

function itemsIn(text: string): readonly unknown[] {
  if (text.trim() === '') return []
  const whole = parsedJson(text)
  if (Array.isArray(whole)) return whole
  if (objectFrom(whole) !== undefined) return [whole]
  if (whole !== undefined) throw notCalls()
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const items = lines.map(parsedJson)
  if (!items.includes(undefined)) return items
  throw notCalls()
}

function notCalls(): OtlpDecodeError {
  return new OtlpDecodeError('expected a JSON list of calls, or one call on each line')
}

function liteLlm() {
  const resource = emptyResource()
  resource.attributes.keys.push('service.name')
  resource.attributes.values.push('litellm')
  return resource
}

function scopeOfLiteLlm() {
  return { ...emptyScope(), name: 'litellm.generic_api' }
}
