import type { Grant, LabelSelector } from './grant.ts'
import type { GrantBook } from './grant-book.ts'

/** Maximum grants of a report: the service refuses a longer one. */
export const grants_max = 1_000
/** Namespaces of a grant in a report. */
const namespaces_max = 50

/** Returns the body of a report: the first 1,000 grants by name, each with its first 50 namespaces. */
export function grantReport(book: Pick<GrantBook, 'all' | 'select'>, cluster: string) {
  const reported = (grant: Grant) => {
    const namespaces = book.select(grant.namespaces).toSorted()
    const { selector } = grant.namespaces
    return {
      name: grant.name,
      project_id: grant.project_id,
      namespaces: namespaces.slice(0, namespaces_max),
      namespace_count: namespaces.length,
      selector: selector === undefined ? null : formatSelector(selector),
      kinds: grant.kinds,
      scopes: grant.scopes,
      roles: grant.roles,
      max_keys: grant.max_keys,
      revoke_after: grant.revoke_after,
    }
  }
  const grants = book.all().toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return { cluster, grants: grants.slice(0, grants_max).map(reported) }
}

/** Formats a label selector as kubectl does; an empty one, which selects everything, is empty. */
export function formatSelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`)
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key
    if (operator === 'DoesNotExist') return `!${key}`
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`
  })
  return [...labels, ...expressions].join(',').slice(0, selector_length_max)
}

const selector_length_max = 4_096
