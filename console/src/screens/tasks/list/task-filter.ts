import type { operations } from '../../../api/schema.gen.d.ts'
import {
  choiceField,
  type FilterFault,
  type FilterField,
  leastField,
  parseFilter,
  textField,
} from '../../../ui/filter-language.ts'
import { findingKinds } from '../../shared/finding-kinds.ts'
import { severities } from '../../shared/severities.ts'

/** Filters of the list of tasks, as the API names them. */
export type TaskQuery = Omit<
  NonNullable<operations['listTasks']['parameters']['query']>,
  'from' | 'to' | 'sort' | 'order' | 'limit' | 'cursor' | 'name'
>

/** Reads `1500`, `10k` or `1.5M`. */
function wholeNumber(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,12}(?:\.\d{1,6})?)([km]?)$/i.exec(text) ?? []
  if (digits === undefined) return undefined
  const factor = { k: 1_000, m: 1_000_000 }[unit.toLowerCase()] ?? 1
  const value = Math.ceil(Number(digits) * factor)
  return value <= 999_999_999_999_999 ? value : undefined
}

/** Reads `500ms`, `10s`, `2m` or `1h` as milliseconds. A number alone is seconds. */
function durationMs(text: string): number | undefined {
  const [, digits, unit = 's'] = /^(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|min|h)?$/i.exec(text) ?? []
  if (digits === undefined) return undefined
  const factor = { ms: 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000 }[unit.toLowerCase()] ?? 1
  return Math.ceil(Number(digits) * factor)
}

/** Reads `0.1` or `$0.1` as the decimal text of the API. */
function dollars(text: string): string | undefined {
  return /^\$?(\d{1,11}(?:\.\d{1,9})?)$/.exec(text)?.[1]
}

/** Reads `0.8` or `80%`. */
function share(text: string): number | undefined {
  const [, digits, percent] = /^(\d{1,3}(?:\.\d{1,6})?)(%?)$/.exec(text) ?? []
  if (digits === undefined) return undefined
  const value = Number(digits) / (percent === '%' ? 100 : 1)
  return value <= 1 ? value : undefined
}

const when = <T>(value: T | undefined, toQuery: (value: T) => TaskQuery) =>
  value === undefined ? undefined : toQuery(value)

/** The fields, in the order in which they are offered. */
export const taskFields: readonly FilterField<TaskQuery>[] = [
  choiceField('state', 'State of the task', ['running', 'completed', 'failed'], (state) => ({
    state,
  })),
  choiceField('severity', 'Worst finding, at least', severities.toReversed(), (severity_min) => ({
    severity_min,
  })),
  textField('finding', 'Type of a finding, such as repeat_call', (finding_type) => ({
    finding_type,
  })),
  choiceField('kind', 'Kind of a finding', findingKinds, (finding_kind) => ({ finding_kind })),
  choiceField('has', 'Failed calls', ['errors'], () => ({ has_errors: true })),
  choiceField('no', 'Without failed calls', ['errors'], () => ({ has_errors: false })),
  choiceField('is', 'Stalled, or without an X-Task-ID', ['stalled', 'implicit'], (value) =>
    value === 'stalled' ? { stalled: true } : { implicit: true },
  ),
  choiceField('not', 'Not stalled, or with an X-Task-ID', ['stalled', 'implicit'], (value) =>
    value === 'stalled' ? { stalled: false } : { implicit: false },
  ),
  textField('model', 'A model that answered', (model) => ({ model })),
  textField('user', 'User', (user_id) => ({ user_id })),
  textField('conversation', 'Conversation: its id, or the id of the client', (conversation_id) => ({
    conversation_id,
  })),
  textField('release', 'Release', (release) => ({ release })),
  textField('environment', 'Environment', (environment) => ({ environment })),
  textField('cluster', 'Kubernetes cluster', (cluster_name) => ({ cluster_name })),
  choiceField('feedback', 'Votes of end users', ['positive', 'negative'], (feedback) => ({
    feedback,
  })),
  choiceField(
    'verification',
    'State of the newest verification',
    ['not_verified', 'pending', 'verified', 'failed'],
    (verification_state) => ({ verification_state }),
  ),
  leastField('cost', 'Cost in US dollars, such as cost>0.1', (text) =>
    when(dollars(text), (cost_usd_min) => ({ cost_usd_min })),
  ),
  leastField('tokens', 'Tokens, such as tokens>10k', (text) =>
    when(wholeNumber(text), (total_tokens_min) => ({ total_tokens_min: `${total_tokens_min}` })),
  ),
  leastField('duration', 'Duration, such as duration>10s', (text) =>
    when(durationMs(text), (duration_ms_min) => ({ duration_ms_min: `${duration_ms_min}` })),
  ),
  leastField('wasted', 'Wasted US dollars, such as wasted>0.01', (text) =>
    when(dollars(text), (wasted_cost_usd_min) => ({ wasted_cost_usd_min })),
  ),
  leastField('wasted_tokens', 'Wasted tokens, such as wasted_tokens>1000', (text) =>
    when(wholeNumber(text), (count) => ({ wasted_tokens_min: `${count}` })),
  ),
  {
    name: 'trust',
    about: 'Trust score, such as trust<0.5 or trust>80%',
    operators: ['>=', '<=', '>', '<'],
    read: (text, operator) => {
      const value = share(text)
      if (value === undefined) return 'Expected 0 to 1, or a percentage'
      return operator.startsWith('>') ? { trust_min: value } : { trust_max: value }
    },
  },
]

/** Reads a filter of tasks. Words without a field are the beginning of the name. */
export function parseTaskFilter(text: string): { query: TaskQuery; faults: FilterFault[] } {
  const { query, words, faults } = parseFilter<TaskQuery>(taskFields, text)
  return { query: words === '' ? query : { ...query, q: words.slice(0, 256) }, faults }
}
