import { unknownField } from './check-structure.ts'
import { type Fault, faultAt, isObject, quoted } from './fault.ts'
import type { Path } from './read-documents.ts'

/** What the API server refuses in the metadata of a resource. */
export function checkMetadata(metadata: unknown): Fault[] {
  const path = ['metadata']
  if (metadata === undefined) return [faultAt([], 'metadata is missing')]
  if (!isObject(metadata)) return [faultAt(path, `got ${quoted(metadata)}, expected fields`)]
  const unknown = Object.keys(metadata).filter((name) => !fields.includes(name))
  return [
    ...unknown.map((name) => unknownField([...path, name], writtenFields)),
    ...checkName(metadata, path),
    ...checkWord(metadata['namespace'], [...path, 'namespace'], namespaces),
    ...checkTexts(metadata['labels'], [...path, 'labels'], labels),
    ...checkTexts(metadata['annotations'], [...path, 'annotations'], annotations),
  ]
}

const writtenFields = ['name', 'generateName', 'namespace', 'labels', 'annotations', 'finalizers']
const fields = [
  ...writtenFields,
  ...['ownerReferences', 'managedFields', 'uid', 'resourceVersion', 'generation', 'selfLink'],
  ...['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'],
]

type Words = { pattern: RegExp; length_max: number; expected: string }

const names: Words = {
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  length_max: 253,
  expected: 'lower-case letters, digits, - and . (RFC 1123)',
}
const namespaces: Words = {
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  length_max: 63,
  expected: 'lower-case letters, digits and - (RFC 1123)',
}
const labels: Words = {
  pattern: /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/,
  length_max: 63,
  expected: 'up to 63 letters, digits, -, _ and .',
}
const annotations: Words = { pattern: /^/, length_max: 262_144, expected: 'text' }
const keys: Words = {
  pattern: /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/,
  length_max: 317,
  expected: 'a name, or a domain and a name: `example.com/team`',
}

function checkName(metadata: Readonly<Record<string, unknown>>, path: Path): Fault[] {
  const { name, generateName } = metadata
  if (name !== undefined) return checkWord(name, [...path, 'name'], names)
  if (generateName !== undefined) {
    const whole = typeof generateName === 'string' ? `${generateName}x` : generateName
    return checkWord(whole, [...path, 'generateName'], names)
  }
  return [faultAt(path, 'name is missing')]
}

function checkWord(value: unknown, path: Path, words: Words): Fault[] {
  if (value === undefined) return []
  const { pattern, length_max, expected } = words
  if (typeof value === 'string' && value.length <= length_max && pattern.test(value)) return []
  return [faultAt(path, `got ${quoted(value)}, expected ${expected}`)]
}

function checkTexts(value: unknown, path: Path, words: Words): Fault[] {
  if (value === undefined || value === null) return []
  if (!isObject(value)) return [faultAt(path, `got ${quoted(value)}, expected fields of text`)]
  return Object.entries(value).flatMap(([name, text]) => [
    ...checkWord(name, [...path, name], keys),
    ...checkWord(text, [...path, name], words),
  ])
}
