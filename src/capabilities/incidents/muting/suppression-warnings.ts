import { nextCronTick } from '../../../kernel/cron.ts'
import { durationMs } from '../../../kernel/duration.ts'
import type { Rule } from '../rules/rule.ts'
import type { Suppression } from './suppression.ts'

/** A rule to whose incidents matchers may refer. */
export type NamedRule = Pick<Rule, 'name' | 'labels' | 'group_by'>

const day_ms = 86_400_000

/** A mute of this length outlives the reason for it. */
const muted_ms_max = 90 * day_ms

/** Returns why a suppression, although valid, mutes more or less than its author expects. */
export function suppressionWarnings(
  suppression: Suppression,
  rules: readonly NamedRule[],
  now_ms: number,
): string[] {
  return [...timeWarnings(suppression, now_ms), ...matcherWarnings(suppression, rules)]
}

function timeWarnings(suppression: Suppression, now_ms: number): string[] {
  const { windows, recurrence, expires_at } = suppression
  const end_ms = expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(expires_at)
  const warnings = windows.flatMap(({ from, to }, at) => {
    const length_ms = Math.min(Date.parse(to), end_ms) - Date.parse(from)
    return length_ms > muted_ms_max
      ? [`\`windows.${at}\` mutes for ${daysIn(length_ms)} days.`]
      : []
  })
  if (recurrence !== undefined && isAlwaysOn(recurrence, now_ms)) {
    const until = expires_at === undefined ? 'and has no end' : `until ${expires_at}`
    warnings.push(
      `\`recurrence\` is always on: each window lasts ${recurrence.duration} and the next one begins before its end. It mutes at all times, ${until}.`,
    )
  }
  const isPlain = windows.length === 0 && recurrence === undefined
  if (isPlain && end_ms - now_ms > muted_ms_max) {
    warnings.push(`\`expires_at\` is ${daysIn(end_ms - now_ms)} days away: it mutes until then.`)
  }
  return warnings
}

function daysIn(length_ms: number): string {
  return Math.round(length_ms / day_ms).toLocaleString('en')
}

/** Windows that are compared: a week of hourly ones. */
const windows_max = 168

type Recurrence = NonNullable<Suppression['recurrence']>

/** Returns whether the next windows overlap, or follow each other without a gap. */
function isAlwaysOn(recurrence: Recurrence, now_ms: number): boolean {
  const duration_ms = durationMs(recurrence.duration)
  let begun_ms = nextCronTick(recurrence, now_ms)
  for (let window = 0; begun_ms !== undefined && window < windows_max; window += 1) {
    const next_ms = nextCronTick(recurrence, begun_ms)
    if (next_ms === undefined || next_ms > begun_ms + duration_ms) return false
    begun_ms = next_ms
  }
  return begun_ms !== undefined
}

function matcherWarnings({ matchers }: Suppression, rules: readonly NamedRule[]): string[] {
  return matchers.flatMap(({ field, op, value }, at) => {
    const about = `\`matchers.${at}\``
    const [of = '', name = ''] = field.split('.')
    if (of === 'labels' && !rules.some(({ labels }) => Object.hasOwn(labels, name))) {
      return [`${about}: no rule has the label \`${name}\`, so that its value is empty text.`]
    }
    if (of === 'group' && !rules.some(({ group_by }) => group_by.some((one) => one === name))) {
      return [`${about}: no rule groups by \`${name}\`, so that its value is empty text.`]
    }
    if (field !== 'rule' || (op !== 'eq' && op !== 'in')) return []
    return [value]
      .flat()
      .filter((one) => !rules.some((rule) => rule.name === one))
      .map((one) => `${about}: no rule has the name ${JSON.stringify(one)}.`)
  })
}
