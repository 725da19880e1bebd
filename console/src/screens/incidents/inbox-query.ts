import type { Search } from '../../browser/search.ts'
import { rangeOf } from '../../browser/time-range.ts'
import { type SeverityName, severities } from '../shared/severities.ts'

/** States that the inbox offers: the value in the URL, and its label. */
export const stateChoices = [
  ['unresolved', 'Unresolved'],
  ['open', 'Open'],
  ['acknowledged', 'Acknowledged'],
  ['resolved', 'Resolved'],
  ['all', 'All states'],
] as const

/** Sorting that the API knows. */
const sorts = ['opened_at', 'updated_at', 'severity', 'number'] as const
type InboxSort = (typeof sorts)[number]

export type InboxQuery = {
  state?: string
  severity_min?: SeverityName
  rule?: string
  assignee?: string
  suppressed?: boolean
  shadow?: boolean
  q?: string
  opened_from?: string
  opened_to?: string
  sort: InboxSort
  order: 'asc' | 'desc'
}

/**
 * Returns the query of the API for the URL of the inbox. Unresolved incidents are shown whenever they
 * were opened: an old one needs an answer too. The range of time is that of resolved ones and of all.
 */
export function inboxQuery(search: Search, me: string | undefined, now_ms: number): InboxQuery {
  const state = stateChoices.find(([value]) => value === search['state'])?.[0] ?? 'unresolved'
  const severity = severities.find((each) => each === search['severity'])
  const { from, to } = rangeOf(search, now_ms)
  const isRanged = state === 'resolved' || state === 'all'
  const assignee = assigneeOf(search['owner'], me)
  return {
    ...(state === 'unresolved' && { state: 'open,acknowledged' }),
    ...(state !== 'unresolved' && state !== 'all' && { state }),
    ...(severity && { severity_min: severity }),
    ...(search['rule'] && { rule: search['rule'] }),
    ...(assignee && { assignee }),
    ...(search['muted'] && { suppressed: search['muted'] === 'yes' }),
    ...(search['shadow'] !== 'yes' && { shadow: false }),
    ...(search['q'] && { q: search['q'] }),
    ...(isRanged && from && { opened_from: from }),
    ...(isRanged && to && { opened_to: to }),
    sort: sorts.find((each) => each === search['sort']) ?? 'opened_at',
    order: search['order'] === 'asc' ? 'asc' : 'desc',
  }
}

function assigneeOf(owner: string | undefined, me: string | undefined): string | undefined {
  if (owner === 'mine') return me
  return owner
}
