import type { Task } from '../../../api/schema.gen.d.ts'
import {
  formatCompact,
  formatCount,
  formatDuration,
  formatNumberOf,
  formatShare,
  formatUsd,
} from '../../../ui/format.ts'
import ui from '../../../ui/ui.module.css'
import css from './head.module.css'

/** The numbers of a task, each with what it is made of. */
export function Numbers({ task }: { task: Task }) {
  const { calls, merged_calls, errors, cancelled, unpriced_calls, trust_coverage } = task
  return (
    <dl className={css.numbers}>
      <Figure name="Cost" value={formatUsd(task.cost_usd)}>
        {[
          unpriced_calls > 0 && `${formatNumberOf(unpriced_calls, 'call')} without a price`,
          task.partially_priced_calls > 0 && `${task.partially_priced_calls} priced in part`,
        ]}
      </Figure>
      <Figure name="Tokens" value={formatCompact(task.tokens.total)}>
        {bucketsOf(task.tokens)}
      </Figure>
      <Figure name="Model calls" value={formatCount(calls)}>
        {[
          merged_calls > 0 && `${formatCount(merged_calls)} arrived again, counted once`,
          errors > 0 && `${formatCount(errors)} failed`,
          cancelled > 0 && `${formatCount(cancelled)} cancelled`,
        ]}
      </Figure>
      <Figure name="Duration" value={formatDuration(task.duration_ms)}>
        {[]}
      </Figure>
      <Figure name="Trust" value={trustOf(task)}>
        {[trust_coverage !== null && `${formatShare(trust_coverage)} of the claims checked`]}
      </Figure>
    </dl>
  )
}

function trustOf({ trust_score, verification_state }: Task): string {
  if (trust_score !== null) return formatShare(trust_score)
  return verification_state === 'verified' ? 'undecided' : verification_state.replace('_', ' ')
}

function bucketsOf(tokens: Task['tokens']): (string | false)[] {
  const buckets = [
    ['input', tokens.input_uncached],
    ['cache read', tokens.cache_read],
    ['cache write', tokens.cache_write],
    ['output', tokens.output_visible],
    ['reasoning', tokens.reasoning],
  ] as const
  return [
    ...buckets.map(([name, count]) => count > 0 && `${formatCompact(count)} ${name}`),
    tokens.estimated_calls > 0 && `${formatNumberOf(tokens.estimated_calls, 'call')} estimated`,
  ]
}

function Figure({
  name,
  value,
  children,
}: {
  name: string
  value: string
  children: readonly (string | false)[]
}) {
  const parts = children.filter((part) => part !== false)
  return (
    <div className={css.number}>
      <dt>{name}</dt>
      <dd>
        <strong>{value}</strong>
        {parts.length > 0 && <div className={ui.soft}>{parts.join(' · ')}</div>}
      </dd>
    </div>
  )
}
