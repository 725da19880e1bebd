const decimalText = /^-?\d{1,15}(\.\d{1,9})?$/

/** Fields that are numbers, by section. Resources write them as decimal text. */
const numbers: Readonly<Record<string, readonly string[]>> = {
  condition: ['threshold'],
  burn_rate: ['objective'],
  baseline: ['max_ratio', 'floor'],
}

/**
 * Returns the body of a rule as the service writes it: numbers for decimal texts, and `task_name` for
 * `taskName`, the name in resources. Other values are returned as they are, for a schema to refuse.
 */
export function canonicalRule(given: unknown): unknown {
  if (!isObject(given)) return given
  const rule: Record<string, unknown> = { ...given }
  for (const [section, fields] of Object.entries(numbers)) {
    if (isObject(rule[section])) rule[section] = withNumbers(rule[section], fields)
  }
  const { burn_rate, event, selector, group_by, inhibited_by } = rule
  if (isObject(burn_rate) && Array.isArray(burn_rate['tiers'])) {
    rule['burn_rate'] = { ...burn_rate, tiers: burn_rate['tiers'].map(canonicalTier) }
  }
  if (isObject(event) && isObject(event['match'])) {
    rule['event'] = { ...event, match: withNumbers(event['match'], ['min_confidence']) }
  }
  if (isObject(selector)) rule['selector'] = canonicalSelector(selector)
  if (Array.isArray(group_by)) rule['group_by'] = group_by.map(canonicalName)
  if (Array.isArray(inhibited_by)) rule['inhibited_by'] = inhibited_by.map(canonicalInhibition)
  return rule
}

type Fields = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function withNumbers(section: Fields, fields: readonly string[]): Fields {
  const read = (name: string, value: unknown) =>
    fields.includes(name) && typeof value === 'string' && decimalText.test(value)
      ? Number(value)
      : value
  return Object.fromEntries(
    Object.entries(section).map(([name, value]) => [name, read(name, value)]),
  )
}

function canonicalTier(tier: unknown): unknown {
  return isObject(tier) ? withNumbers(tier, ['factor']) : tier
}

/** With both names, the other one remains, for the schema to refuse. */
function canonicalSelector(selector: Fields): Fields {
  if (!Object.hasOwn(selector, 'taskName') || Object.hasOwn(selector, 'task_name')) return selector
  const { taskName: task_name, ...rest } = selector
  return { ...rest, task_name }
}

function canonicalInhibition(inhibition: unknown): unknown {
  if (!isObject(inhibition) || !Array.isArray(inhibition['equal'])) return inhibition
  return { ...inhibition, equal: inhibition['equal'].map(canonicalName) }
}

function canonicalName(name: unknown): unknown {
  return name === 'taskName' ? 'task_name' : name
}
