import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { QueryEstimate, QueryExplanation } from '../../api/schema.gen.d.ts'
import { formatBytes, formatCount, formatDuration, formatShare } from '../../ui/format.ts'
import { Json } from '../../ui/json.tsx'
import { Badge, Facts } from '../../ui/parts.tsx'
import { Fault } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import css from './query.module.css'
import { explain } from './run.ts'
import type { Asked } from './use-draft.ts'

const settle_ms = 500

/** Returns a value once it has stayed the same for half a second. */
function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), settle_ms)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}

/** The plan of the query: its store, and the data that it would read. It follows the query as it is written. */
export function Explanation({ asked, project_id }: { asked: Asked; project_id: string }) {
  const text = JSON.stringify(asked)
  const settled = useSettled(text)
  const query = useQuery({
    queryKey: ['explain', project_id, settled],
    queryFn: ({ signal }) => explain(JSON.parse(settled) as Asked, signal),
    staleTime: 60_000,
  })
  if (query.error !== null && settled === text) {
    return <Fault error={query.error} retry={() => void query.refetch()} />
  }
  if (query.data === undefined || settled !== text) {
    return (
      <p className={ui.soft} role="status">
        Asking what this would read…
      </p>
    )
  }
  return <Explained of={query.data} />
}

function Explained({ of }: { of: QueryExplanation }) {
  const { store, estimate, warnings } = of
  return (
    <section className={ui.box} aria-label="Explanation">
      <h2 className={ui.visuallyHidden}>Explanation</h2>
      <div className={ui.stack}>
        <p className={ui.row}>
          <Badge tone="info">{store.chosen}</Badge>
          <span>{readText(estimate)}</span>
        </p>
        {warnings.length > 0 && (
          <ul className={css.warnings}>
            {warnings.map(({ code, detail }) => (
              <li key={code + detail}>
                <Badge tone={code === 'over_limit' ? 'bad' : 'warn'}>
                  {code.replaceAll('_', ' ')}
                </Badge>{' '}
                {detail}
              </li>
            ))}
          </ul>
        )}
        <details>
          <summary>Why, and how it is read</summary>
          <Details of={of} />
        </details>
      </div>
    </section>
  )
}

function readText({ rows, bytes, rows_at_most, reason }: QueryEstimate): string {
  if (rows !== null) {
    const size = bytes === null ? '' : `, ${formatBytes(bytes)}`
    return `Reads about ${formatCount(rows)} rows${size}.`
  }
  const most = rows_at_most === null ? '' : ` At most ${formatCount(rows_at_most)} rows.`
  return `How much is read is not known before the run${reason === null ? '' : `: ${reason}`}.${most}`
}

function Details({ of }: { of: QueryExplanation }) {
  const { store, query_class, estimate, statement, plan, limits, query } = of
  const { parts, granules, skipped_share } = estimate
  return (
    <div className={ui.stack}>
      <Facts
        of={[
          ...store.candidates.map(
            (each) =>
              [
                each.store,
                `${each.eligible ? 'can answer' : 'cannot answer'}: ${each.reason}`,
              ] as const,
          ),
          ['If it is down', store.fallback ? 'the next store answers' : 'the answer is an error'],
          ['Class', query_class],
          ['Parts', parts && `${formatCount(parts.selected)} of ${formatCount(parts.total)}`],
          [
            'Granules',
            granules && `${formatCount(granules.selected)} of ${formatCount(granules.total)}`,
          ],
          ['Skipped by indexes', skipped_share === null ? null : formatShare(skipped_share)],
          ...Object.entries(limits).map(([name, value]) => [name, limitText(name, value)] as const),
        ]}
      />
      <h3>Statement</h3>
      <pre className={css.plan}>{statement.text}</pre>
      {statement.params.length > 0 && <Json value={statement.params} open={0} />}
      <h3>Plan of the store</h3>
      <pre className={css.plan}>{plan.join('\n')}</pre>
      <h3>Query in normal form</h3>
      <Json value={query} open={1} />
    </div>
  )
}

function limitText(name: string, value: number): string {
  if (name.includes('bytes')) return formatBytes(value)
  return name.includes('_ms') ? formatDuration(value) : formatCount(value)
}
