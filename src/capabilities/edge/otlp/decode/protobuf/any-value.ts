import type { OtlpAttributes, OtlpValue } from '../../contract.ts'
import { emptyAttributes, isForbiddenKey } from '../items.ts'
import { tooDeep } from '../tally.ts'
import { readKey, readValueText } from './read-scalars.ts'
import type { WireReader } from './wire-reader.ts'

const anyValueFields = 0b1111_1110
const keyValueFields = 0b110
const listFields = 0b10

/**
 * Reads a KeyValue into `into`. Returns how many exceeded the limits: 1 or 0. A forbidden key is
 * dropped with a warning.
 */
export function readAttribute(wire: WireReader, field: string, into: OtlpAttributes): 0 | 1 {
  const full = into.keys.length >= wire.tally.limits.attributes_per_item
  if (full || !wire.tally.takesValue()) {
    wire.position = wire.until(field)
    return 1
  }
  readKeyValue(wire, field, into, 0)
  return 0
}

/** Reads a field of type AnyValue; `before` is the value of an earlier occurrence. */
export function readAnyValueField(wire: WireReader, field: string, before: OtlpValue): OtlpValue {
  return readValueAt(wire, field, 0, before)
}

function readKeyValue(wire: WireReader, field: string, into: OtlpAttributes, level: number): void {
  const around = wire.enter(field)
  let key = ''
  let value: OtlpValue = null
  while (wire.position < wire.end) {
    const tag = wire.tag('KeyValue')
    if (tag === 10) key = readKey(wire, 'KeyValue.key')
    else if (tag === 18) value = readValueAt(wire, 'KeyValue.value', level, value)
    else wire.skip(tag, 'KeyValue', keyValueFields)
  }
  wire.leave(around)
  if (isForbiddenKey(key)) {
    wire.tally.warn('forbidden_key')
    return
  }
  into.keys.push(key)
  into.values.push(value)
}

/** Reads a value. A later one replaces an earlier one, but lists and maps are merged (protobuf). */
function readValueAt(wire: WireReader, field: string, level: number, before: OtlpValue): OtlpValue {
  const around = wire.enter(field)
  if (level > wire.tally.limits.value_levels) {
    wire.leave(around)
    wire.tally.warn('too_deep')
    return tooDeep
  }
  let value = before
  while (wire.position < wire.end) {
    const tag = wire.tag('AnyValue')
    if (tag === 10) value = readValueText(wire, 'AnyValue.string_value')
    else if (tag === 16) value = wire.bool('AnyValue.bool_value')
    else if (tag === 24) value = wire.int64('AnyValue.int_value')
    else if (tag === 33) value = wire.double('AnyValue.double_value')
    else value = readCompound(wire, tag, level + 1, value)
  }
  wire.leave(around)
  return value
}

/** Reads the fields of an AnyValue that are lists, maps or bytes. */
function readCompound(wire: WireReader, tag: number, level: number, before: OtlpValue): OtlpValue {
  if (tag === 42) return readList(wire, level, before)
  if (tag === 50) return readMap(wire, level, before)
  if (tag === 58) return readBytes(wire)
  wire.skip(tag, 'AnyValue', anyValueFields)
  return before
}

function readList(wire: WireReader, level: number, before: OtlpValue): OtlpValue {
  const list: OtlpValue[] = Array.isArray(before) ? before : []
  const around = wire.enter('AnyValue.array_value')
  while (wire.position < wire.end) {
    const tag = wire.tag('ArrayValue')
    if (tag !== 10) wire.skip(tag, 'ArrayValue', listFields)
    else if (takesInner(wire, 'ArrayValue.values')) {
      list.push(readValueAt(wire, 'ArrayValue.values', level, null))
    }
  }
  wire.leave(around)
  return list
}

function readMap(wire: WireReader, level: number, before: OtlpValue): OtlpValue {
  const map = isMap(before) ? before : { map: emptyAttributes() }
  wire.tally.takesCompound()
  const around = wire.enter('AnyValue.kvlist_value')
  while (wire.position < wire.end) {
    const tag = wire.tag('KeyValueList')
    if (tag !== 10) wire.skip(tag, 'KeyValueList', listFields)
    else if (takesInner(wire, 'KeyValueList.values')) {
      readKeyValue(wire, 'KeyValueList.values', map.map, level)
    }
  }
  wire.leave(around)
  return map
}

/** Returns whether one more nested value fits the limits; otherwise skips it. */
function takesInner(wire: WireReader, field: string): boolean {
  if (wire.tally.takesValue()) return true
  wire.tally.warn('values_cut')
  wire.position = wire.until(field)
  return false
}

function readBytes(wire: WireReader): OtlpValue {
  const end = wire.until('AnyValue.bytes_value')
  const bytes = wire.bytes.subarray(wire.position, end)
  wire.position = end
  return { bytes }
}

/** Checks an own property, because every array has a method of this name. */
function isMap(value: OtlpValue): value is { map: OtlpAttributes } {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'map')
}
