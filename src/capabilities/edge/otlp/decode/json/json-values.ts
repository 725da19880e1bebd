import type { OtlpAttributes, OtlpValue } from '../../contract.ts'
import { emptyAttributes, isForbiddenKey } from '../items.ts'
import { type Tally, tooDeep } from '../tally.ts'
import { doubleOf, int64Of, listOf, objectOf } from './json-scalars.ts'

type JsonKeyValue = { key?: unknown; value?: unknown }

type JsonAnyValue = {
  stringValue?: unknown
  string_value?: unknown
  intValue?: unknown
  int_value?: unknown
  boolValue?: unknown
  bool_value?: unknown
  doubleValue?: unknown
  double_value?: unknown
  arrayValue?: unknown
  array_value?: unknown
  kvlistValue?: unknown
  kvlist_value?: unknown
  bytesValue?: unknown
  bytes_value?: unknown
}

/** Reads a list of KeyValue into `into`. Returns how many exceeded the limits. */
export function readAttributes(list: unknown, into: OtlpAttributes, tally: Tally): number {
  const most = tally.limits.attributes_per_item
  const items = listOf(list, tally)
  for (let i = 0; i < items.length; i++) {
    if (into.keys.length >= most || !tally.takesValue()) return items.length - i
    readKeyValue(items[i], into, 0, tally)
  }
  return 0
}

/**
 * Reads an AnyValue at a depth of `level` lists and maps. A wrong type becomes null, with a
 * warning.
 */
export function readAnyValue(raw: unknown, level: number, tally: Tally): OtlpValue {
  if (level > tally.limits.value_levels) {
    tally.warn('too_deep')
    return tooDeep
  }
  const value = objectOf(raw, tally) as JsonAnyValue | undefined
  if (value === undefined) return null
  const text = value.stringValue
  return typeof text === 'string' ? text : readOther(value, level, tally)
}

function readKeyValue(raw: unknown, into: OtlpAttributes, level: number, tally: Tally): void {
  if (typeof raw !== 'object' || raw === null) {
    tally.warn('wrong_type')
    return
  }
  const { key, value } = raw as JsonKeyValue
  if (key !== undefined && typeof key !== 'string') {
    tally.warn('wrong_type')
    return
  }
  // proto3 leaves out empty fields.
  const name = key ?? ''
  if (isForbiddenKey(name)) {
    tally.warn('forbidden_key')
    return
  }
  into.keys.push(name)
  into.values.push(readAnyValue(value, level, tally))
}

function readOther(value: JsonAnyValue, level: number, tally: Tally): OtlpValue {
  const int = value.intValue ?? value.int_value
  if (set(int)) return known(int64Of(int), tally)
  const bool = value.boolValue ?? value.bool_value
  if (set(bool)) return known(typeof bool === 'boolean' ? bool : undefined, tally)
  const double = value.doubleValue ?? value.double_value
  if (set(double)) return known(doubleOf(double), tally)
  return readCompound(value, level + 1, tally)
}

/** Reads lists, maps and bytes, and text with an unusual field name or type. */
function readCompound(value: JsonAnyValue, level: number, tally: Tally): OtlpValue {
  const list = value.arrayValue ?? value.array_value
  if (set(list)) return readList(list, level, tally)
  const map = value.kvlistValue ?? value.kvlist_value
  if (set(map)) return readMap(map, level, tally)
  const bytes = value.bytesValue ?? value.bytes_value
  if (set(bytes)) return known(bytesOf(bytes), tally)
  const text = value.stringValue ?? value.string_value
  return set(text) ? known(typeof text === 'string' ? text : undefined, tally) : null
}

function set(value: unknown): boolean {
  return value !== undefined && value !== null
}

function known(value: OtlpValue | undefined, tally: Tally): OtlpValue {
  if (value !== undefined) return value
  tally.warn('wrong_type')
  return null
}

function readList(raw: unknown, level: number, tally: Tally): OtlpValue {
  const list: OtlpValue[] = []
  for (const value of valuesOf(raw, tally)) {
    if (!tally.takesValue()) return cut(list, tally)
    list.push(readAnyValue(value, level, tally))
  }
  return list
}

function readMap(raw: unknown, level: number, tally: Tally): OtlpValue {
  const map = emptyAttributes()
  tally.takesCompound()
  for (const pair of valuesOf(raw, tally)) {
    if (!tally.takesValue()) return cut({ map }, tally)
    readKeyValue(pair, map, level, tally)
  }
  return { map }
}

function cut(value: OtlpValue, tally: Tally): OtlpValue {
  tally.warn('values_cut')
  return value
}

function valuesOf(raw: unknown, tally: Tally): readonly unknown[] {
  const holder = objectOf(raw, tally) as { values?: unknown } | undefined
  return listOf(holder?.values, tally)
}

function bytesOf(value: unknown): OtlpValue | undefined {
  return typeof value === 'string' ? { bytes: Buffer.from(value, 'base64') } : undefined
}
