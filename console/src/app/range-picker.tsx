import { useLocation } from '@tanstack/react-router'
import { serverNow } from '../api/server-clock.ts'
import { describeRange } from '../ui/describe-range.ts'
import { notify } from '../ui/toasts.tsx'
import { useKeys } from './keys.ts'
import { absoluteUrl, defaultFrom, ranges } from './time-range.ts'
import { useUrlState } from './use-search.ts'
import { useZone } from './zone.ts'

/** Screens whose rows depend on the range of the URL. */
const ranged = [
  'overview',
  'tasks',
  'conversations',
  'findings',
  'query',
  'incidents',
  'feedback',
  'audit',
]

/** The choice of the range of time, on screens that have one. `y` copies a link. */
export function RangePicker() {
  const { pathname } = useLocation()
  const [search, change] = useUrlState()
  const zone = useZone()
  const hasRange = ranged.includes(pathname.split('/')[3] ?? 'overview') && !pathname.split('/')[4]
  useKeys({
    y: () => {
      const { href } = window.location
      void navigator.clipboard
        ?.writeText(hasRange ? absoluteUrl(href, serverNow()) : href)
        .then(() => notify('Link copied'))
    },
  })
  if (!hasRange) return null
  const from = search['from'] ?? defaultFrom
  const { to } = search
  const isKnown = to === undefined && ranges.some(([value]) => value === from)
  return (
    <select
      aria-label="Range of time"
      value={isKnown ? from : 'custom'}
      onChange={(event) => change({ from: event.target.value, to: undefined, cursor: undefined })}
    >
      {!isKnown && (
        <option value="custom">
          {describeRange({ from, ...(to !== undefined && { to }) }, zone, serverNow())}
        </option>
      )}
      {ranges.map(([value, title]) => (
        <option key={value} value={value}>
          {title}
        </option>
      ))}
    </select>
  )
}
