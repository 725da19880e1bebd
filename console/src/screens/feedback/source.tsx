import { serverNow } from '../../api/server-clock.ts'
import { rangeOf } from '../../browser/time-range.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { formatShare } from '../../ui/format.ts'
import { Meter } from '../../ui/meter.tsx'
import ui from '../../ui/ui.module.css'

const sources = ['end_user', 'annotator', 'rule'] as const
export type Source = (typeof sources)[number]

/** Returns the source and the range of the URL. Sources are never mixed. */
export function useSource() {
  const [search] = useUrlState()
  const source = sources.find((each) => each === search['source']) ?? 'end_user'
  return { source, ...rangeOf(search, serverNow()) }
}

/** The choice of the source of feedback. */
export function SourceChoice({ source }: { source: Source }) {
  const [, change] = useUrlState()
  return (
    <label className={ui.row}>
      Feedback of
      <select value={source} onChange={(event) => change({ source: event.target.value })}>
        <option value="end_user">end users</option>
        <option value="annotator">annotators</option>
        <option value="rule">rules</option>
      </select>
    </label>
  )
}

/** A rate with its interval over users. */
export function Rate({
  rate,
  interval,
}: {
  rate: number | null
  interval: readonly number[] | null
}) {
  if (rate === null) return 'none'
  const [low, high] = interval ?? []
  return (
    <span className={ui.row} style={{ flexWrap: 'nowrap' }}>
      {formatShare(rate)} <Meter share={rate} interval={interval} />
      <span className={ui.soft}>
        {low === undefined || high === undefined
          ? 'too few users'
          : `${formatShare(low)} to ${formatShare(high)}`}
      </span>
    </span>
  )
}
