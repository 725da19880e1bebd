import { canonicalJson } from '../../../kernel/canonical-json.ts'
import { boundedText, type Group } from './groups.ts'
import type { Rule } from './rule.ts'

/** A placeholder, or anything that looks like one. */
const placeholder = /\{\{(.*?)\}\}/gs

/** An index of PostgreSQL holds 2,704 bytes. */
const key_bytes_max = 2000

type Keyed = Pick<Rule, 'name' | 'dedup_key' | 'group_by' | 'labels'>

/**
 * Returns the dedup key of a group. The prefix keeps templates apart from default keys, so that the
 * value of a dimension, which payloads choose, cannot name the incident of another rule.
 */
export function dedupKey({ name, dedup_key, labels }: Keyed, group: Group): string {
  if (dedup_key === undefined) return `rule:${canonicalJson([name, group])}`
  const values: Readonly<Record<string, string | undefined>> = group
  const text = dedup_key.replaceAll(placeholder, (_match, path: string) => {
    const [of, key = ''] = path.trim().split('.')
    return (of === 'labels' ? labels[key] : values[key]) ?? ''
  })
  return `key:${boundedText(text, key_bytes_max)}`
}

/** Returns why the template of a dedup key is refused; undefined for a valid one. */
export function dedupKeyFault({ dedup_key, group_by, labels }: Keyed): string | undefined {
  if (dedup_key === undefined) return undefined
  const literal = dedup_key.replaceAll(placeholder, '')
  if (literal.includes('{{') || literal.includes('}}')) {
    return `got ${JSON.stringify(dedup_key)}, expected placeholders such as {{group.model}}`
  }
  const paths = [...dedup_key.matchAll(placeholder)].map(([, path = '']) => path.trim())
  for (const path of paths) {
    const fault = placeholderFault(path, { group_by, labels })
    if (fault !== undefined) return fault
  }
  if (literal.trim() !== '' || paths.length > 0) return undefined
  return 'got a key that is always empty, expected text or a placeholder'
}

function placeholderFault(
  path: string,
  { group_by, labels }: Pick<Keyed, 'group_by' | 'labels'>,
): string | undefined {
  const [of, name = '', ...more] = path.split('.')
  const isKnown = (of === 'group' || of === 'labels') && more.length === 0 && name !== ''
  if (!isKnown) {
    return `got {{${path}}}, expected {{group.x}} or {{labels.x}}; other values would make a new incident for each row`
  }
  if (of === 'labels') {
    if (Object.hasOwn(labels, name)) return undefined
    return `{{labels.${name}}} is always empty: the rule has no label \`${name}\``
  }
  if (group_by.some((dimension) => dimension === name)) return undefined
  return `{{group.${name}}} is always empty: \`group_by\` lacks \`${name}\``
}
